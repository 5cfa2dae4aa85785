"""The knowledge base as static pages: a model of it, templates, and the folder they are written to."""
