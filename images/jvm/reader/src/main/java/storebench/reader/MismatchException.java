package storebench.reader;

/** The table does not hold what it should. */
final class MismatchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MismatchException(String message) {
        super(message);
    }
}
