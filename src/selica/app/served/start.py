"""Run by Streamlit at each change."""

from selica.app.page import show

if __name__ == "__main__":
    show()
