"""The script Streamlit runs, alone: its folder goes to the front of the module search path."""
