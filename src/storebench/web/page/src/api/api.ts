/** Ask the page's own API. The description of the API (types.ts) checks each path, query and answer. */
import createClient from "openapi-fetch";
import type { paths } from "./types";

/** An error answer: `status` is the HTTP status, 0 without an answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The path of an endpoint, as in the description of the API. */
export type Path = keyof paths;
/** The parameters of an endpoint. A list becomes several parameters of the same name, and undefined values are omitted. */
export type Query<P extends Path> = NonNullable<paths[P]["get"]["parameters"]["query"]>;
/** The answer of an endpoint. */
export type Answer<P extends Path> = paths[P]["get"]["responses"][200]["content"]["application/json"];

/** A page of a list: `more` tells whether items follow. */
export interface Page<T> {
  items: T[];
  offset: number;
  more: boolean;
}
/** The path of an endpoint that answers with pages of a list. */
export type ListPath = { [P in Path]: Answer<P> extends Page<unknown> ? P : never }[Path];
/** An item of an endpoint's list. */
export type Item<P extends ListPath> = Answer<P>["items"][number];

/** Send a request as the logged-in user: Airflow identifies the user by its cookie. Throws a Problem for an error answer. */
export async function send(request: Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Problem(0, "Airflow does not answer");
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const detail = (body as { detail?: unknown }).detail;
  throw new Problem(response.status, typeof detail === "string" ? detail : response.statusText);
}

const client = createClient<paths>({
  fetch: send,
  credentials: "same-origin",
  headers: { accept: "application/json" },
});

interface Asked<P extends Path> {
  baseUrl: string;
  params: { query: Query<P> };
  signal: AbortSignal | undefined;
}
/** The client's method for any path: TypeScript cannot evaluate the method's type while the path is a parameter. */
const GET = client.GET as <P extends Path>(path: P, asked: Asked<P>) => Promise<{ data?: Answer<P> }>;

/** Return the answer of an endpoint of the page's own API. Throws a Problem for an error answer. */
export async function get<P extends Path>(
  path: P,
  query: Query<P>,
  signal?: AbortSignal,
): Promise<Answer<P>> {
  const baseUrl = new URL("storebench", document.baseURI).href; // Airflow's base URL may have a path
  const { data } = await GET(path, { baseUrl, params: { query }, signal });
  return data as Answer<P>;
}

/** Return all items of a paged answer, or the first `most` items. */
export async function all<P extends ListPath>(
  path: P,
  query: Query<P>,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<Item<P>[]> {
  const items: Item<P>[] = [];
  const { limit = 100, offset: first = 0 } = query;
  for (let offset = first; ; ) {
    const page = await get(path, { ...query, limit, offset }, signal);
    items.push(...page.items);
    if (!page.more || items.length >= most) return items.slice(0, most);
    offset += limit;
  }
}
