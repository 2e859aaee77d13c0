//! Typed values of the four stores, read from and written to their JSON forms.
