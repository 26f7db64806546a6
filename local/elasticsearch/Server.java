import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Starts one Elasticsearch node; SIGTERM stops it in order. The distribution's launcher is not published as an artifact.
 *
 * <p>The system property {@code es.path.home} names its folder, with {@code config/}, {@code lib/} and {@code modules/}; each
 * argument is one setting, {@code key=value}.
 */
public final class Server {
    private static final long STOP_SECONDS = 20;

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(System.getProperty("es.path.home")).toAbsolutePath();
        Map<String, String> settings = new HashMap<>(Map.of("path.home", home.toString()));
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            settings.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        Path config = home.resolve("config");
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(Settings.EMPTY, settings, config, () -> "storebench");
        LogConfigurator.configureESLogging();
        LogConfigurator.setClusterName(environment.settings().get("cluster.name"));
        LogConfigurator.setNodeName(environment.settings().get("node.name"));
        LogConfigurator.configure(environment, true);

        var modules = PluginsLoader.loadModulesBundles(home.resolve("modules"), false);
        Node node = new Node(environment, PluginsLoader.createPluginsLoader(modules, Set.of(), Map.of(), false));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(node)));
        node.start();
        Thread.currentThread().join();
    }

    private static void stop(Node node) {
        try {
            node.close();
            node.awaitClose(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }
}
