/** What a family of requests is made of: data, sent to both servers, so that their answers can be compared. */

// biome-ignore lint/suspicious/noExplicitAny: a body of either server, read by path; comparing it is the point
export type Json = any;

export interface Request {
  method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as JSON, or as it is when it is a string or bytes. */
  body?: unknown;
  /** `application/json` unless said. */
  contentType?: string;
  accept?: string;
  /** More headers. `authorization` replaces the administrator's certificate. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as this user by impersonation. */
  as?: { user: string; groups?: readonly string[] };
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** A JSON value where the answer is JSON, else its text. For watches: the list of events. */
  body: Json;
}

/** Answers that earlier steps of the same family kept, of the same server. */
export type Kept = Readonly<Record<string, Answer>>;

/** One request, or one that needs what the server said before (a resourceVersion, a continue token). */
export type Asked = Request | ((kept: Kept) => Request);

export interface Step {
  ask: Asked;
  /** Under what name the answer is kept for later steps. */
  keep?: string;
  /** Asked again until this holds; what is done in the background is awaited so. Fails after 30 s. */
  until?: (answer: Answer) => boolean;
  /** The request opens a watch: these are sent once it is open, and so many events are awaited (or the watch's end). */
  watch?: { during?: readonly Asked[]; events: number };
  /** What of the answer is compared, where one server has more of a kind than the other: unasked, all of it. */
  only?: (answer: Answer) => Answer;
  /** Sent, but the answer is not compared: preparation whose answer another step already covers. */
  unseen?: boolean;
}

export interface Family {
  name: string;
  /**
   * Before a write to what is there, the server's cache must have it as it is. A write that begins with an older one is tried twice,
   * and asks webhooks twice.
   */
  awaitsCache?: boolean;
  steps: readonly Step[];
}

export const MERGE = "application/merge-patch+json";
export const JSON_PATCH = "application/json-patch+json";
export const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";

type Query = Request["query"];
type More = Omit<Request, "method" | "path">;

/** Shorthands: `step(get("/version"))`, `step(post(path, body))`. */
export const step = (ask: Asked, more: Omit<Step, "ask"> = {}): Step => ({ ask, ...more });
/** A GET. */
export const get = (path: string, query?: Query, more: More = {}): Request => ({
  method: "GET",
  path,
  ...(query && { query }),
  ...more,
});
/** A POST. */
export const post = (path: string, body: unknown, more: More = {}): Request => ({
  method: "POST",
  path,
  body,
  ...more,
});
/** A PUT. */
export const put = (path: string, body: unknown, more: More = {}): Request => ({ method: "PUT", path, body, ...more });
/** A DELETE. */
export const del = (path: string, body?: unknown, more: More = {}): Request => ({
  method: "DELETE",
  path,
  ...(body !== undefined && { body }),
  ...more,
});
/** A PATCH. */
export const patch = (path: string, contentType: string, body: unknown, more: More = {}): Request => ({
  method: "PATCH",
  path,
  contentType,
  body,
  ...more,
});

/** Waits until a definition is served in one of its versions: it is established, and its collection answers. */
export function served(name: string, version = "v1"): Step[] {
  const [plural, ...group] = name.split(".");
  return [
    {
      ask: get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`),
      unseen: true,
      until: ({ body }) =>
        (body.status?.conditions ?? []).some((c: Json) => c.type === "Established" && c.status === "True"),
    },
    { ask: get(`/apis/${group.join(".")}/${version}/${plural}`), unseen: true, until: ({ status }) => status === 200 },
  ];
}
