/* A stand-in for libnvidia-ml.so.1: answers from the scenario file named in FAKE_NVML_SCENARIO.
 *
 * Lines of a scenario (# starts a comment):
 *   driver VERSION                      driver version, e.g. 550.90.07
 *   cuda NUMBER                         CUDA driver API version as NVML counts it, e.g. 12040
 *   gpu INDEX FIELD VALUE               a field of a GPU; the rest of the line is the value
 *   process INDEX PID BYTES C|G         a compute or graphics process on a GPU
 *   mig INDEX GI CI BYTES UUID NAME     a MIG instance of a GPU, by the ids of its GPU and compute instance
 *   nvlink INDEX LINK 0|1 PEER          a link that is down or up, and the GPU it leads to, or switch
 *   ancestor INDEX INDEX LEVEL          where the PCIe paths of two GPUs meet, as NVML counts it
 *   on FUNCTION INDEX|* WHAT            instead of answering: return CODE, wait MILLISECONDS
 *                                       (and answer), hang, crash, abort, exit CODE, or garbage huge (all bits set), garbage zero, garbage text (bytes that are
 *                                       no text), garbage endless (a text that fills its buffer)
 *
 * With OLD_DRIVER defined the functions that came after driver 418 are missing, as in a library of that age.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUCCESS 0
#define UNINITIALIZED 1
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define INSUFFICIENT_SIZE 7
#define MAX_GPUS 40
#define MAX_ITEMS 128
#define HUGE -1
#define ZERO -2
#define NO_TEXT -3
#define NO_END -4
#define TEXT 96

typedef struct { char field[32]; char value[TEXT]; } Field;
typedef struct { Field fields[64]; int count; } Gpu;
typedef struct { int gpu; unsigned pid; unsigned long long bytes; char type; } Process;
typedef struct { char function[64]; int gpu; char what[TEXT]; } Rule;
typedef struct { int gpu; unsigned gi, ci; unsigned long long bytes; char uuid[TEXT], name[TEXT]; } Mig;
typedef struct { int gpu, link, up, peer; } Link;
typedef struct { int one, other, level; } Ancestor;

typedef struct { unsigned int gpu, memory; } Utilization;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } MemoryV2;
typedef struct { unsigned int pid; unsigned long long bytes; } ProcessInfoV1;
typedef struct { char legacy[16]; unsigned int domain, bus, device, id, subsystem; char bus_id[32]; } Pci;
typedef struct {
    unsigned int field, scope;
    long long timestamp, latency;
    unsigned int type, code;
    union { unsigned int number; unsigned long long wide; } value;
} FieldValue;
typedef struct { unsigned char cluster[16]; unsigned int status, clique; unsigned char state; } FabricInfo;
typedef struct {
    unsigned int version;
    unsigned char cluster[16];
    unsigned int status, clique;
    unsigned char state;
    unsigned int health;
} FabricInfoV;
typedef struct { unsigned int pid; unsigned long long bytes; unsigned int gi, ci; } ProcessInfo;

static char driver[TEXT];
static int cuda, gpus, processes, migs, links, ancestors, rules, started;
static Gpu gpu_of[MAX_GPUS];
static Process process_of[MAX_ITEMS];
static Rule rule_of[MAX_ITEMS];
static Mig mig_of[MAX_ITEMS];
static Link link_of[MAX_ITEMS];
static Ancestor ancestor_of[MAX_ITEMS];

static void read_line(char *line)
{
    char word[64], what[TEXT], type;
    int index;
    unsigned pid;
    unsigned long long bytes;
    line[strcspn(line, "#\n")] = 0;
    if (sscanf(line, "driver %95s", driver) == 1) return;
    if (sscanf(line, "cuda %d", &cuda) == 1) return;
    if (sscanf(line, "gpu %d %31s %95[^\n]", &index, word, what) == 3 && index >= 0 && index < MAX_GPUS) {
        Gpu *gpu = &gpu_of[index];
        Field *field = &gpu->fields[gpu->count++];
        strncpy(field->field, word, sizeof field->field - 1);
        strncpy(field->value, what, sizeof field->value - 1);
        if (index >= gpus) gpus = index + 1;
        return;
    }
    if (sscanf(line, "process %d %u %llu %c", &index, &pid, &bytes, &type) == 4 && processes < MAX_ITEMS) {
        Process process = {index, pid, bytes, type};
        process_of[processes++] = process;
        return;
    }
    if (migs < MAX_ITEMS) {
        Mig *mig = &mig_of[migs];
        if (sscanf(line, "mig %d %u %u %llu %95s %95[^\n]", &mig->gpu, &mig->gi, &mig->ci, &mig->bytes, mig->uuid,
                   mig->name) == 6) {
            migs++;
            return;
        }
    }
    if (links < MAX_ITEMS) {
        Link *link = &link_of[links];
        if (sscanf(line, "nvlink %d %d %d %31s", &link->gpu, &link->link, &link->up, word) == 4) {
            link->peer = strcmp(word, "switch") ? atoi(word) : -1;
            links++;
            return;
        }
    }
    if (ancestors < MAX_ITEMS) {
        Ancestor *ancestor = &ancestor_of[ancestors];
        if (sscanf(line, "ancestor %d %d %d", &ancestor->one, &ancestor->other, &ancestor->level) == 3) {
            ancestors++;
            return;
        }
    }
    if (sscanf(line, "on %63s %95[^\n]", word, what) == 2 && rules < MAX_ITEMS) {
        Rule *rule = &rule_of[rules++];
        char *rest;
        strncpy(rule->function, word, sizeof rule->function - 1);
        rule->gpu = what[0] == '*' ? -1 : (int)strtol(what, &rest, 10);
        strncpy(rule->what, strchr(what, ' ') + 1, sizeof rule->what - 1);
    }
}

static void read_scenario(void)
{
    char line[256];
    const char *path = getenv("FAKE_NVML_SCENARIO");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file || started++) return;
    while (fgets(line, sizeof line, file)) read_line(line);
    fclose(file);
}

/* What the scenario has a function do instead of answering: an error code, or the kind of garbage it tells. */
static int ruled(const char *function, int gpu)
{
    for (int i = 0; i < rules; i++) {
        const Rule *rule = &rule_of[i];
        if (strcmp(rule->function, function) || (rule->gpu >= 0 && rule->gpu != gpu)) continue;
        if (!strcmp(rule->what, "hang")) for (;;) pause();
        if (!strcmp(rule->what, "crash")) raise(SIGSEGV);
        if (!strcmp(rule->what, "abort")) abort();
        if (!strcmp(rule->what, "garbage huge")) return HUGE;
        if (!strcmp(rule->what, "garbage zero")) return ZERO;
        if (!strcmp(rule->what, "garbage text")) return NO_TEXT;
        if (!strcmp(rule->what, "garbage endless")) return NO_END;
        int code;
        if (sscanf(rule->what, "exit %d", &code) == 1) _exit(code);
        if (sscanf(rule->what, "wait %d", &code) == 1) usleep((useconds_t)code * 1000);
        if (sscanf(rule->what, "return %d", &code) == 1) return code;
    }
    return SUCCESS;
}

/* Fill an answer with garbage. */
static void spoil(int kind, void *into, size_t size)
{
    static const unsigned char no_text[] = {0xff, 0xfe, 0x80, 0x1b, '['};
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)into)[i] = kind == HUGE ? 0xff : kind == ZERO ? 0 : kind == NO_END ? 'A' : no_text[i % sizeof no_text];
}

/* Return what the scenario rules for this function, if anything; `size` bytes at `into` are its answer. */
#define RULED(gpu, into, size) \
    do { \
        int rule_code = ruled(__func__, gpu); \
        if (rule_code < 0) spoil(rule_code, into, size); \
        if (rule_code != SUCCESS) return rule_code < 0 ? SUCCESS : rule_code; \
    } while (0)

/* The same for functions about a GPU. Handles that are none are refused, as NVML does. */
#define RULED_FOR(handle, into, size) \
    int gpu = index_of(handle); \
    if (gpu < 0) return INVALID_ARGUMENT; \
    RULED(gpu, into, size)

static const char *field_of(int gpu, const char *name)
{
    for (int i = 0; i < gpu_of[gpu].count; i++)
        if (!strcmp(gpu_of[gpu].fields[i].field, name)) return gpu_of[gpu].fields[i].value;
    return NULL;
}

static unsigned long long number_of(int gpu, const char *name)
{
    const char *value = field_of(gpu, name);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* A handle is the address of its GPU, or of its MIG instance. */
static Mig *mig_behind(void *handle)
{
    for (int i = 0; i < migs; i++)
        if (handle == &mig_of[i]) return &mig_of[i];
    return NULL;
}

static int index_of(void *handle)
{
    for (int i = 0; i < gpus; i++)
        if (handle == &gpu_of[i]) return i;
    return mig_behind(handle) ? mig_behind(handle)->gpu : -1;
}

#define TEXT_GETTER(function, name) \
    int function(void *handle, char *into, unsigned int size) \
    { \
        RULED_FOR(handle, into, size); \
        Mig *mig = mig_behind(handle); \
        const char *value = mig ? mig->name : field_of(gpu, #name); \
        if (mig && !strcmp(#name, "uuid")) value = mig->uuid; \
        if (!value) return NOT_SUPPORTED; \
        snprintf(into, size, "%s", value); \
        return SUCCESS; \
    }

static int number_into(int gpu, const char *name, unsigned int *into)
{
    if (!field_of(gpu, name)) return NOT_SUPPORTED;
    *into = (unsigned int)number_of(gpu, name);
    return SUCCESS;
}

#define NUMBER_GETTER(function, name) \
    int function(void *handle, unsigned int *into) \
    { \
        RULED_FOR(handle, into, sizeof *into); \
        return number_into(gpu, #name, into); \
    }

#define PAIR_GETTER(function, name) \
    int function(void *handle, unsigned int *current, unsigned int *pending) \
    { \
        RULED_FOR(handle, current, sizeof *current); \
        *pending = 0; \
        return number_into(gpu, #name, current); \
    }

int nvmlInitWithFlags(unsigned int flags)
{
    read_scenario();
    RULED(-1, &flags, 0);
    return SUCCESS;
}

int nvmlShutdown(void)
{
    char nothing;
    RULED(-1, &nothing, 0);
    return SUCCESS;
}

const char *nvmlErrorString(int code)
{
    int kind = ruled(__func__, -1);
    if (kind < 0) return kind == HUGE ? (const char *)~0ul : kind == ZERO ? NULL : "\xff\xfe\x80";
    switch (code) {
    case NOT_SUPPORTED: return "Not Supported";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 16: return "GPU requires reset";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

int nvmlSystemGetDriverVersion(char *into, unsigned int size)
{
    RULED(-1, into, size);
    snprintf(into, size, "%s", driver);
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion(int *into)
{
    RULED(-1, into, sizeof *into);
    *into = cuda;
    return SUCCESS;
}

int nvmlSystemGetProcessName(unsigned int pid, char *into, unsigned int size)
{
    RULED(-1, into, size);
    snprintf(into, size, "/usr/bin/program-%u", pid);
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *into)
{
    RULED(-1, into, sizeof *into);
    *into = (unsigned int)gpus;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle)
{
    if ((int)index >= gpus) return INVALID_ARGUMENT;
    RULED((int)index, handle, sizeof *handle);
    *handle = &gpu_of[index];
    return SUCCESS;
}

TEXT_GETTER(nvmlDeviceGetName, name)
TEXT_GETTER(nvmlDeviceGetUUID, uuid)
NUMBER_GETTER(nvmlDeviceGetPowerUsage, power)
NUMBER_GETTER(nvmlDeviceGetEnforcedPowerLimit, power_limit)
NUMBER_GETTER(nvmlDeviceGetComputeMode, compute_mode)
NUMBER_GETTER(nvmlDeviceGetPersistenceMode, persistence)
NUMBER_GETTER(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation)
NUMBER_GETTER(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation_max)
NUMBER_GETTER(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)
NUMBER_GETTER(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max)
PAIR_GETTER(nvmlDeviceGetDriverModel_v2, driver_model)

int nvmlDeviceGetPciInfo_v3(void *handle, Pci *into)
{
    RULED_FOR(handle, into, sizeof *into);
    if (!field_of(gpu, "pci")) return NOT_SUPPORTED;
    snprintf(into->bus_id, sizeof into->bus_id, "%s", field_of(gpu, "pci"));
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor)
{
    RULED_FOR(handle, major, sizeof *major);
    const char *capability = field_of(gpu, "capability");
    return capability && sscanf(capability, "%d.%d", major, minor) == 2 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *handle, Memory *into)
{
    RULED_FOR(handle, into, sizeof *into);
    Mig *mig = mig_behind(handle);
    into->total = mig ? mig->bytes : number_of(gpu, "total");
    into->used = mig ? 0 : number_of(gpu, "used") + number_of(gpu, "reserved");
    into->free = into->total - into->used;
    return into->total ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(void *handle, Utilization *into)
{
    RULED_FOR(handle, into, sizeof *into);
    into->memory = 0;
    return number_into(gpu, "utilization", &into->gpu);
}

int nvmlDeviceGetTemperature(void *handle, unsigned int sensor, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    return sensor ? INVALID_ARGUMENT : number_into(gpu, "temperature", into);
}

int nvmlDeviceGetTemperatureThreshold(void *handle, unsigned int threshold, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    return threshold == 1 ? number_into(gpu, "slowdown", into) : NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(void *handle, int count, FieldValue *into)
{
    RULED_FOR(handle, into, (size_t)count * sizeof *into);
    for (int i = 0; i < count; i++) {
        into[i].value.number = 0;
        into[i].code = (unsigned)(into[i].field == 82 ? number_into(gpu, "memory_temperature", &into[i].value.number)
                                                      : NOT_SUPPORTED);
    }
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *into)
{
    RULED_FOR(handle, into, sizeof *into);
    *into = number_of(gpu, "reasons");
    return field_of(gpu, "reasons") ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetTotalEccErrors(void *handle, unsigned int error, unsigned int counter, unsigned long long *into)
{
    const char *name = counter ? "ecc_aggregate" : "ecc";
    RULED_FOR(handle, into, sizeof *into);
    *into = number_of(gpu, name);
    return error == 1 && field_of(gpu, name) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetRetiredPages(void *handle, unsigned int cause, unsigned int *count, unsigned long long *into)
{
    RULED_FOR(handle, count, sizeof *count);
    unsigned int found = (unsigned)number_of(gpu, cause ? "retired_double" : "retired_single");
    if (!field_of(gpu, "retired_single")) return NOT_SUPPORTED;
    for (unsigned int i = 0; into && i < found && i < *count; i++) into[i] = i;
    int code = found > *count ? INSUFFICIENT_SIZE : SUCCESS;
    *count = found;
    return code;
}

int nvmlDeviceGetNvLinkState(void *handle, unsigned int link, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    int own = 0;
    for (int i = 0; i < links; i++) {
        if (link_of[i].gpu != gpu) continue;
        own = 1;
        *into = (unsigned)link_of[i].up;
        if (link_of[i].link == (int)link) return SUCCESS;
    }
    return own ? INVALID_ARGUMENT : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned int link, Pci *into)
{
    RULED_FOR(handle, into, sizeof *into);
    for (int i = 0; i < links; i++) {
        if (link_of[i].gpu != gpu || link_of[i].link != (int)link || link_of[i].peer < 0) continue;
        const char *pci = field_of(link_of[i].peer, "pci");
        if (pci) snprintf(into->bus_id, sizeof into->bus_id, "%s", pci);
        return pci ? SUCCESS : NOT_SUPPORTED;
    }
    return NOT_SUPPORTED;
}

int nvmlDeviceGetTopologyCommonAncestor(void *handle, void *other, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    for (int i = 0; i < ancestors; i++) {
        if (ancestor_of[i].one != gpu || ancestor_of[i].other != index_of(other)) continue;
        *into = (unsigned)ancestor_of[i].level;
        return SUCCESS;
    }
    return NOT_SUPPORTED;
}

#ifdef OLD_DRIVER

int nvmlDeviceGetComputeRunningProcesses(void *handle, unsigned int *count, ProcessInfoV1 *into)
{
    (void)handle;
    (void)into;
    *count = 0;
    return SUCCESS;
}

#else

static int running(int gpu, char type, unsigned int *count, ProcessInfo *into)
{
    unsigned int found = 0, room = *count;
    for (int i = 0; i < processes; i++) {
        if (process_of[i].gpu != gpu || process_of[i].type != type) continue;
        if (found < room && into) {
            ProcessInfo info = {process_of[i].pid, process_of[i].bytes, ~0u, ~0u};
            into[found] = info;
        }
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* Garbage is a list whose records were never filled in, or whose length is no length. */
static int spoiled_list(int kind, unsigned int *count, ProcessInfo *into)
{
    if (!into) {
        *count = kind == HUGE ? 50000000u : 3;
        return INSUFFICIENT_SIZE;
    }
    *count = kind == HUGE ? *count : 3;
    spoil(kind, into, 3 * sizeof *into);
    return SUCCESS;
}

#define PROCESSES_GETTER(function, type) \
    int function(void *handle, unsigned int *count, ProcessInfo *into) \
    { \
        int gpu = index_of(handle), code = gpu < 0 ? INVALID_ARGUMENT : ruled(__func__, gpu); \
        if (code < 0) return spoiled_list(code, count, into); \
        return code != SUCCESS ? code : running(gpu, type, count, into); \
    }

PROCESSES_GETTER(nvmlDeviceGetComputeRunningProcesses_v3, 'C')
PROCESSES_GETTER(nvmlDeviceGetComputeRunningProcesses_v2, 'C')
PROCESSES_GETTER(nvmlDeviceGetGraphicsRunningProcesses_v3, 'G')
PROCESSES_GETTER(nvmlDeviceGetGraphicsRunningProcesses_v2, 'G')
PAIR_GETTER(nvmlDeviceGetMigMode, mig)

int nvmlSystemGetCudaDriverVersion_v2(int *into)
{
    RULED(-1, into, sizeof *into);
    *into = cuda;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(void *handle, MemoryV2 *into)
{
    RULED_FOR(handle, into, sizeof *into);
    Mig *mig = mig_behind(handle);
    into->total = mig ? mig->bytes : number_of(gpu, "total");
    into->reserved = mig ? 0 : number_of(gpu, "reserved");
    into->used = mig ? 0 : number_of(gpu, "used");
    into->free = into->total - into->used - into->reserved;
    return into->total ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *into)
{
    RULED_FOR(handle, into, sizeof *into);
    *into = number_of(gpu, "reasons");
    return field_of(gpu, "reasons") ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetRemappedRows(void *handle, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failure)
{
    RULED_FOR(handle, pending, sizeof *pending);
    *corrected = (unsigned)number_of(gpu, "rows_corrected");
    *uncorrected = (unsigned)number_of(gpu, "rows_uncorrected");
    *failure = (unsigned)number_of(gpu, "rows_failure");
    return number_into(gpu, "rows_pending", pending);
}

int nvmlDeviceGetMaxMigDeviceCount(void *handle, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    *into = 7;
    return SUCCESS;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *handle, unsigned int place, void **into)
{
    RULED_FOR(handle, into, sizeof *into);
    for (int i = 0; i < migs; i++) {
        if (mig_of[i].gpu != gpu || place--) continue;
        *into = &mig_of[i];
        return SUCCESS;
    }
    return NOT_FOUND;
}

int nvmlDeviceGetGpuInstanceId(void *handle, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    *into = mig_behind(handle) ? mig_behind(handle)->gi : 0;
    return mig_behind(handle) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetComputeInstanceId(void *handle, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    *into = mig_behind(handle) ? mig_behind(handle)->ci : 0;
    return mig_behind(handle) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *handle, unsigned int link, unsigned int *into)
{
    RULED_FOR(handle, into, sizeof *into);
    for (int i = 0; i < links; i++) {
        if (link_of[i].gpu != gpu || link_of[i].link != (int)link) continue;
        *into = link_of[i].peer < 0 ? 2 : 0;
        return SUCCESS;
    }
    return INVALID_ARGUMENT;
}

int nvmlDeviceGetGpuFabricInfo(void *handle, FabricInfo *into)
{
    RULED_FOR(handle, into, sizeof *into);
    into->state = (unsigned char)number_of(gpu, "fabric_state");
    into->status = (unsigned)number_of(gpu, "fabric_status");
    return field_of(gpu, "fabric_state") ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetGpuFabricInfoV(void *handle, FabricInfoV *into)
{
    RULED_FOR(handle, into, sizeof *into);
    into->state = (unsigned char)number_of(gpu, "fabric_state");
    into->status = (unsigned)number_of(gpu, "fabric_status");
    return field_of(gpu, "fabric_state") ? SUCCESS : NOT_SUPPORTED;
}

#endif
