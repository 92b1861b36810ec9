"""Everything that imports streamlit: state, controls, caches and one script per page."""
