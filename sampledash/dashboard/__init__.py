"""Everything that imports streamlit: what pages share, a folder for each, and their scripts."""
