"""The page: Predict, Plan and Select in a browser. It computes nothing itself."""
