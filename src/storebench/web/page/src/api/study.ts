import { get, Problem } from "./api";
import type { Study } from "./types";

/** Return an empty study, for a study whose runs never began. */
export const unknownStudy = (name: string): Study => ({
  name,
  title: name,
  description: "",
  method_version: 0,
  operations: [],
  metrics: [],
  common: [],
  axes: [],
  stores: [],
  charts: [],
  tables: [],
  params: [],
  dataset: {
    name: "",
    version: 0,
    text: "",
    row_bytes: 0,
    max_rows: 0,
    axes: [],
    custom_file: null,
    divides: false,
  },
  rows: 1,
});

/** Return a study's details as of the start of its last run. */
export async function studyNamed(name: string, signal?: AbortSignal): Promise<Study> {
  try {
    return await get("/api/study", { name }, signal);
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) return unknownStudy(name);
    throw problem;
  }
}

/** Add the study to a list of answers. */
export async function withStudy<T extends { study: string }>(
  items: T[],
  signal?: AbortSignal,
): Promise<{ study: Study; items: T[] }> {
  const name = items[0]?.study;
  return { items, study: name === undefined ? unknownStudy("") : await studyNamed(name, signal) };
}
