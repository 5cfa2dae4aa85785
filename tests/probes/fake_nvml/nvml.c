/* A stand-in for libnvidia-ml.so.1: answers from the scenario file named in FAKE_NVML_SCENARIO.
 *
 * Lines of a scenario (# starts a comment):
 *   driver VERSION                      driver version, e.g. 550.90.07
 *   cuda NUMBER                         CUDA driver API version as NVML counts it, e.g. 12040
 *   gpu INDEX FIELD VALUE               a field of a GPU; the rest of the line is the value
 *   process INDEX PID BYTES C|G         a compute or graphics process on a GPU
 *   on FUNCTION INDEX|* WHAT            return CODE, hang, or crash instead of answering
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
#define INSUFFICIENT_SIZE 7
#define MAX_GPUS 16
#define MAX_ITEMS 64
#define TEXT 96

typedef struct { char field[32]; char value[TEXT]; } Field;
typedef struct { Field fields[32]; int count; } Gpu;
typedef struct { int gpu; unsigned pid; unsigned long long bytes; char type; } Process;
typedef struct { char function[64]; int gpu; char what[TEXT]; } Rule;

typedef struct { unsigned int gpu, memory; } Utilization;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } MemoryV2;
typedef struct { unsigned int pid; unsigned long long bytes; } ProcessInfoV1;
typedef struct { unsigned int pid; unsigned long long bytes; unsigned int gi, ci; } ProcessInfo;

static char driver[TEXT];
static int cuda, gpus, processes, rules, started;
static Gpu gpu_of[MAX_GPUS];
static Process process_of[MAX_ITEMS];
static Rule rule_of[MAX_ITEMS];

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

/* What the scenario has a function do instead of answering; SUCCESS to let it answer. */
static int ruled(const char *function, int gpu)
{
    for (int i = 0; i < rules; i++) {
        const Rule *rule = &rule_of[i];
        if (strcmp(rule->function, function) || (rule->gpu >= 0 && rule->gpu != gpu)) continue;
        if (!strcmp(rule->what, "hang")) for (;;) pause();
        if (!strcmp(rule->what, "crash")) raise(SIGSEGV);
        int code;
        if (sscanf(rule->what, "return %d", &code) == 1) return code;
    }
    return SUCCESS;
}

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

/* A handle is the address of its GPU. */
static int index_of(void *handle) { return (int)((Gpu *)handle - gpu_of); }

static int text_of(const char *function, void *handle, const char *name, char *into, unsigned int size)
{
    int gpu = index_of(handle), code = ruled(function, gpu);
    const char *value = field_of(gpu, name);
    if (code != SUCCESS) return code;
    if (!value) return NOT_SUPPORTED;
    snprintf(into, size, "%s", value);
    return SUCCESS;
}

static int unsigned_of(const char *function, void *handle, const char *name, unsigned int *into)
{
    int gpu = index_of(handle), code = ruled(function, gpu);
    if (code != SUCCESS) return code;
    if (!field_of(gpu, name)) return NOT_SUPPORTED;
    *into = (unsigned int)number_of(gpu, name);
    return SUCCESS;
}

int nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    read_scenario();
    return ruled("nvmlInitWithFlags", -1);
}

int nvmlShutdown(void) { return ruled("nvmlShutdown", -1); }

const char *nvmlErrorString(int code)
{
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
    int code = ruled("nvmlSystemGetDriverVersion", -1);
    if (code == SUCCESS) snprintf(into, size, "%s", driver);
    return code;
}

int nvmlSystemGetCudaDriverVersion(int *into)
{
    *into = cuda;
    return ruled("nvmlSystemGetCudaDriverVersion", -1);
}

int nvmlSystemGetProcessName(unsigned int pid, char *into, unsigned int size)
{
    snprintf(into, size, "/usr/bin/program-%u", pid);
    return ruled("nvmlSystemGetProcessName", -1);
}

int nvmlDeviceGetCount_v2(unsigned int *into)
{
    *into = (unsigned int)gpus;
    return ruled("nvmlDeviceGetCount_v2", -1);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle)
{
    if ((int)index >= gpus) return INVALID_ARGUMENT;
    *handle = &gpu_of[index];
    return ruled("nvmlDeviceGetHandleByIndex_v2", (int)index);
}

int nvmlDeviceGetName(void *handle, char *into, unsigned int size)
{
    return text_of("nvmlDeviceGetName", handle, "name", into, size);
}

int nvmlDeviceGetUUID(void *handle, char *into, unsigned int size)
{
    return text_of("nvmlDeviceGetUUID", handle, "uuid", into, size);
}

int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor)
{
    int gpu = index_of(handle), code = ruled("nvmlDeviceGetCudaComputeCapability", gpu);
    const char *capability = field_of(gpu, "capability");
    if (code != SUCCESS) return code;
    return capability && sscanf(capability, "%d.%d", major, minor) == 2 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *handle, Memory *into)
{
    int gpu = index_of(handle), code = ruled("nvmlDeviceGetMemoryInfo", gpu);
    into->total = number_of(gpu, "total");
    into->used = number_of(gpu, "used") + number_of(gpu, "reserved");
    into->free = into->total - into->used;
    return code == SUCCESS && !field_of(gpu, "total") ? NOT_SUPPORTED : code;
}

int nvmlDeviceGetUtilizationRates(void *handle, Utilization *into)
{
    into->memory = 0;
    return unsigned_of("nvmlDeviceGetUtilizationRates", handle, "utilization", &into->gpu);
}

int nvmlDeviceGetTemperature(void *handle, unsigned int sensor, unsigned int *into)
{
    (void)sensor;
    return unsigned_of("nvmlDeviceGetTemperature", handle, "temperature", into);
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned int *into)
{
    return unsigned_of("nvmlDeviceGetPowerUsage", handle, "power", into);
}

int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned int *into)
{
    return unsigned_of("nvmlDeviceGetEnforcedPowerLimit", handle, "power_limit", into);
}

int nvmlDeviceGetComputeMode(void *handle, unsigned int *into)
{
    return unsigned_of("nvmlDeviceGetComputeMode", handle, "compute_mode", into);
}

int nvmlDeviceGetPersistenceMode(void *handle, unsigned int *into)
{
    return unsigned_of("nvmlDeviceGetPersistenceMode", handle, "persistence", into);
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

static int running(const char *function, void *handle, char type, unsigned int *count, ProcessInfo *into)
{
    int gpu = index_of(handle), code = ruled(function, gpu);
    unsigned int found = 0, room = *count;
    if (code != SUCCESS) return code;
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

int nvmlSystemGetCudaDriverVersion_v2(int *into)
{
    *into = cuda;
    return ruled("nvmlSystemGetCudaDriverVersion_v2", -1);
}

int nvmlDeviceGetMemoryInfo_v2(void *handle, MemoryV2 *into)
{
    int gpu = index_of(handle), code = ruled("nvmlDeviceGetMemoryInfo_v2", gpu);
    into->total = number_of(gpu, "total");
    into->reserved = number_of(gpu, "reserved");
    into->used = number_of(gpu, "used");
    into->free = into->total - into->used - into->reserved;
    return code == SUCCESS && !field_of(gpu, "total") ? NOT_SUPPORTED : code;
}

int nvmlDeviceGetMigMode(void *handle, unsigned int *current, unsigned int *pending)
{
    *pending = 0;
    return unsigned_of("nvmlDeviceGetMigMode", handle, "mig", current);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned int *count, ProcessInfo *into)
{
    return running("nvmlDeviceGetComputeRunningProcesses_v3", handle, 'C', count, into);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *handle, unsigned int *count, ProcessInfo *into)
{
    return running("nvmlDeviceGetGraphicsRunningProcesses_v3", handle, 'G', count, into);
}

#endif
