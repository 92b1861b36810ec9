"""All code that imports Streamlit: the pages, the modules they share, and their scripts."""
