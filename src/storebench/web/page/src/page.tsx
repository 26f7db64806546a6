import { Results } from "./Results";
import styles from "./styles.css?inline";

const element = document.createElement("style");
element.textContent = styles;
document.head.append(element);

// Airflow looks for a component by the name that the plugin gives it.
Object.assign(globalThis, { Results });
