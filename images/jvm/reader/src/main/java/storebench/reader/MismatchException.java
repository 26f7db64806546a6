package storebench.reader;

/** Thrown if the table does not hold the dataset. */
final class MismatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MismatchException(String message) {
        super(message);
    }
}
