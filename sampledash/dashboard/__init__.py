"""All code that imports Streamlit: the pages, their shared modules, and their JavaScript."""
