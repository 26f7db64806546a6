package storebench.reader;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Map;

/** Converts an exception to an answer. */
final class Failure {
    private Failure() {}

    static Map<String, Object> describe(Throwable error) {
        error.printStackTrace(); // to stderr, for the log
        Throwable cause = error;
        String kind = kind(cause);
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
            kind = kind.equals("refused") ? kind(cause) : kind;
        }
        String reason = cause == error ? "" : " (" + text(cause) + ")";
        return Map.of("error", text(error) + reason, "kind", kind);
    }

    private static String kind(Throwable error) {
        if (error instanceof MismatchException) {
            return "mismatch";
        }
        boolean unreachable =
                error instanceof ConnectException
                        || error instanceof NoRouteToHostException
                        || error instanceof SocketTimeoutException
                        || error instanceof UnknownHostException;
        return unreachable ? "unreachable" : "refused";
    }

    private static String text(Throwable error) {
        String message = error.getMessage();
        if (error instanceof MismatchException) {
            return message;
        }
        String name = error.getClass().getSimpleName();
        return message == null ? name : name + ": " + message.lines().findFirst().orElse("");
    }
}
