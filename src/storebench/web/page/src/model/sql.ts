import { axesOf, type CellName, datasetNamesOf, type Places } from "./cells";

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
// the name of an axis or a metric may be a reserved word in SQL
const column = (name: string) => `"${name}"`;

const WHICH = ["store", "client"];
const STATE = ["operation", "repeat", "status", "disturbed"];
/** The columns with the origin of an attempt's figures. */
const ORIGIN = ["run_id", "server_name", "server_version", "durability", "code_version", "recorded_at"];
/** The machine of an attempt, from its environment. */
const MACHINE = `(SELECT concat_ws(', ', e.details ->> 'cpus', e.details ->> 'cpu_model', e.details ->> 'memory_gib')
  FROM storebench.environment AS e WHERE e.hash = environment_hash) AS machine_cpus_model_gib`;

/** The selected rows of the study's view: rows of these runs or of one cell. */
export interface Asked {
  study: Places & { name: string };
  cells: CellName[];
  runs?: string[];
  cell?: string;
  operations?: string[];
  metrics?: string[];
}

/** Return the SQL query for a chart's data: a row for each attempt, without warm-ups. */
export function sqlOf({ study, cells, runs = [], cell, operations = [], metrics }: Asked): string {
  const places = [...axesOf(study, cells), ...datasetNamesOf(study)].map(column);
  const figures = metrics?.map(column) ?? ["metric", "value", "unit", "metrics"];
  const measured = cell ? ["environment_hash", "parameters_hash"] : [];
  const columns = [...WHICH, ...places, ...STATE, ...measured, ...figures, ...ORIGIN, MACHINE];
  return [
    `SELECT ${columns.join(", ")}`,
    `FROM storebench.${study.name}`,
    where(runs, cell, operations),
    END,
  ].join("\n");
}

/** Return the SQL query for the attempts' histograms and series, or for their phases. */
export function sqlBeside(
  table: "artifact" | "phase",
  { study, cells, runs = [], operations = [] }: Asked,
  names: string[] = [],
): string {
  const places = [...axesOf(study, cells), ...datasetNamesOf(study)].map(column);
  const values = table === "artifact" ? ["name", "content"] : ["name", "seconds"];
  const columns = [...WHICH, ...places, ...STATE, ...values, ...ORIGIN, MACHINE];
  return [
    `SELECT ${columns.join(", ")}`,
    `FROM storebench.${study.name} JOIN storebench.${table} USING (attempt_id)`,
    [where(runs, undefined, operations), ...among("name", names)].join(" AND "),
    END,
  ].join("\n");
}

/** Return the SQL query for the medians of these cells over all runs, each in its ranked environment and with its ranked parameters. */
export function sqlOfRanking(
  study: string,
  operation: string,
  metric: string,
  cells: { cell_key: string; environment_hash: string | null; parameters_hash: string | null }[],
): string {
  const groups = cells
    .filter(({ environment_hash }) => environment_hash !== null)
    .map((cell) =>
      [cell.cell_key, cell.environment_hash ?? "", cell.parameters_hash ?? ""].map(quoted).join(", "),
    );
  const figure = column(metric);
  const at = (share: number, name: string) =>
    `percentile_cont(${share}) WITHIN GROUP (ORDER BY ${figure}) AS ${name}`;
  const quartiles = [at(0.25, "first_quartile"), at(0.5, "median"), at(0.75, "third_quartile")];
  return [
    `SELECT cell_key, count(${figure}) AS n, count(DISTINCT run_id) AS runs, ${quartiles.join(", ")}`,
    `FROM storebench.${study}`,
    `WHERE operation = ${quoted(operation)} AND status = 'verified' AND disturbed IS NULL AND NOT warm_up`,
    `AND (cell_key, environment_hash, coalesce(parameters_hash, '')) IN (${groups.map((group) => `(${group})`).join(", ") || "(NULL, NULL, NULL)"})`,
    "GROUP BY cell_key ORDER BY median;\n",
  ].join("\n");
}

/** Return the SQL query for the newest attempts of a study's grid with a dataset; they determine the operations that remain to measure. */
export function sqlOfGrid(study: string, { rows, seed }: Record<string, unknown>): string {
  return [
    `SELECT store, client, axes, operation, status, disturbed, ${ORIGIN.join(", ")}, ${MACHINE}`,
    "FROM storebench.newest",
    `WHERE study = ${quoted(study)} AND rows = ${Number(rows)} AND seed = ${Number(seed)}`,
    "ORDER BY store, client, cell_key, operation;\n",
  ].join("\n");
}

/** Return the SQL query for the environments of a run. */
export function sqlOfEnvironments(run: string): string {
  return [
    "SELECT hash, details FROM storebench.environment",
    `WHERE hash IN (SELECT environment_hash FROM storebench.results WHERE run_id = ${quoted(run)})`,
    "ORDER BY hash;\n",
  ].join("\n");
}

const END = "ORDER BY store, client, cell_key, operation, repeat;\n";

const among = (name: string, values: string[]) =>
  values.length ? [`${name} IN (${values.map(quoted).join(", ")})`] : [];

function where(runs: string[], cell: string | undefined, operations: string[]): string {
  return `WHERE ${[
    ...among("run_id", runs),
    ...(cell ? [`cell_key = ${quoted(cell)}`] : []),
    ...among("operation", operations),
    "NOT warm_up",
  ].join(" AND ")}`;
}
