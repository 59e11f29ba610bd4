// Stands in for the type that the encodings of names belong to, where no archive is opened.
public enum ForeignArchive {}
