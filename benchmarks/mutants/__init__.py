"""Small changes to rules and certificates, each of which a test has to notice."""
