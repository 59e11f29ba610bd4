// Replaces the type that contains the encodings of names: no archive is opened here.
public enum ForeignArchive {}
