import { defined, definition, withSpec } from "../definitions.ts";
import { type Family, get, JSON_PATCH, type Json, patch, post, type Step, step } from "../step.ts";

const NS = "namespaces/diff-json-patch";
const MAP = `/api/v1/${NS}/configmaps/a`;
const GROUP = "json-patch.example.com";
const THINGS = `/apis/${GROUP}/v1/${NS}/things`;

const asked = (path: string, body: Json, query?: Record<string, string>): Step =>
  step(patch(path, JSON_PATCH, body, query === undefined ? {} : { query }));

/** Operations that hold or fail alike on any kind; `x` is the object's map of texts. */
const onMaps: Json[] = [
  [{ op: "add", path: "/data/y", value: "2" }],
  [{ op: "add", path: "/data/y", value: "2" }],
  [{ op: "replace", path: "/data/x", value: "3" }],
  [{ op: "test", path: "/data/x", value: "3" }],
  [{ op: "test", path: "/data/x", value: "4" }],
  [{ op: "test", path: "/data/none", value: null }],
  [{ op: "test", path: "/data/none", value: "1" }],
  [{ op: "test", path: "/data/none/deeper", value: "1" }],
  [{ op: "remove", path: "/data/none" }],
  [{ op: "replace", path: "/data/none", value: "1" }],
  [{ op: "remove", path: "/none/none" }],
  [{ op: "add", path: "/none/none", value: "1" }],
  [{ op: "replace", path: "/none/none", value: "1" }],
  [{ op: "copy", from: "/data/x", path: "/data/z" }],
  [{ op: "copy", from: "/data/none", path: "/data/z" }],
  [{ op: "move", from: "/data/z", path: "/data/w" }],
  [{ op: "move", from: "/data/z", path: "/data/w" }],
  [{ op: "nothing", path: "/data/x" }],
  [{ path: "/data/x" }],
  [{ op: "add", path: "data/x", value: "1" }],
  [{ op: "add", path: "/data/v" }],
  [{ op: "add", value: "1" }],
  [{ op: "replace", path: "/data/x" }],
  [{ op: "copy", path: "/data/x" }],
  [{ op: "add", path: "/data/a~1b", value: "slash" }],
  [{ op: "add", path: "/metadata/labels", value: { a: "b" } }],
  [{ op: "add", path: "/metadata/labels/a.b~1c", value: "d" }],
  [{ op: "remove", path: "/metadata/labels/a" }],
  [{ op: "add", path: "/metadata/finalizers", value: ["example.com/a", "example.com/b"] }],
  [{ op: "add", path: "/metadata/finalizers/-", value: "example.com/c" }],
  [{ op: "add", path: "/metadata/finalizers/0", value: "example.com/d" }],
  [{ op: "add", path: "/metadata/finalizers/9", value: "example.com/e" }],
  [{ op: "add", path: "/metadata/finalizers/x", value: "example.com/e" }],
  [{ op: "add", path: "/metadata/finalizers/01", value: "example.com/e" }],
  [{ op: "remove", path: "/metadata/finalizers/-1" }],
  [{ op: "remove", path: "/metadata/finalizers/9" }],
  [{ op: "remove", path: "/metadata/finalizers/0" }],
  [{ op: "test", path: "/metadata/finalizers/0", value: "example.com/a" }],
  [{ op: "replace", path: "/metadata/finalizers/0", value: "example.com/z" }],
  [{ op: "move", from: "/metadata/finalizers/0", path: "/metadata/finalizers/1" }],
  [{ op: "remove", path: "/metadata/finalizers" }],
  [
    { op: "add", path: "/data/one", value: "1" },
    { op: "test", path: "/data/one", value: "2" },
  ],
  [{ op: "replace", path: "/metadata/name", value: "b" }],
  [{ op: "replace", path: "/metadata/namespace", value: "default" }],
  [{ op: "replace", path: "/metadata/uid", value: "b" }],
  [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }],
  [{ op: "remove", path: "/metadata/creationTimestamp" }],
  [{ op: "replace", path: "/kind", value: "Other" }],
  [{ op: "replace", path: "/apiVersion", value: "v9" }],
  [{ op: "remove", path: "/metadata" }],
  [{ op: "replace", path: "", value: { a: 1 } }],
  [{ op: "replace", path: "", value: [] }],
  [{ op: "remove", path: "" }],
  [{ op: "add", path: "/data", value: { only: "this" } }],
  [{ op: "test", path: "", value: {} }],
  [],
  {},
  null,
  "text",
  [1],
  "[{]",
  [{ op: "add", path: "/metadata/labels", value: { "-bad-": "x y" } }],
  [{ op: "add", path: "/unknown", value: 1 }],
];

/** Only where values have types of their own. */
const onThings: Json[] = [
  [{ op: "add", path: "/spec/list", value: [1, 2, 3] }],
  [{ op: "add", path: "/spec/list/1", value: 9 }],
  [{ op: "test", path: "/spec/list", value: [1, 9, 2, 3] }],
  [{ op: "test", path: "/spec/list/0", value: 1.0 }],
  [{ op: "test", path: "/spec/free", value: { b: [1, "y"], a: "x" } }],
  [{ op: "add", path: "/spec/free", value: { a: "x", b: [1, "y"] } }],
  [{ op: "test", path: "/spec/free", value: { b: [1, "y"], a: "x" } }],
  [{ op: "test", path: "/spec/free/c", value: null }],
  [{ op: "add", path: "/spec/free/c", value: null }],
  [{ op: "copy", from: "/spec/free", path: "/spec/free/d" }],
  [{ op: "move", from: "/spec/free", path: "/spec/free/e" }],
  [{ op: "replace", path: "/spec/list/0", value: "text" }],
  [{ op: "add", path: "/status", value: { phase: "Done" } }],
  [{ op: "add", path: "/spec/count", value: 5 }],
];

const family: Family = {
  name: "json-patch",
  steps: [
    step(post(`/api/v1/${NS}/configmaps`, { metadata: { name: "a" }, data: { x: "1" } })),
    ...onMaps.map((body) => asked(MAP, typeof body === "string" ? body : JSON.stringify(body))),
    step(get(MAP)),
    asked(`/api/v1/${NS}/configmaps/none`, [{ op: "add", path: "/data/y", value: "2" }]),
    asked(`/api/v1/${NS}/configmaps`, [{ op: "add", path: "/data/y", value: "2" }]),
    asked(MAP, [{ op: "add", path: "/data/dry", value: "run" }], { dryRun: "All" }),
    asked(MAP, [{ op: "add", path: "/data/dry", value: "run" }], { dryRun: "Some" }),
    asked(MAP, [{ op: "add", path: "/data/x", value: "run" }], { fieldManager: "somebody" }),
    asked(MAP, [{ op: "add", path: "/data/x", value: "run" }], { force: "true" }),
    asked(MAP, [{ op: "add", path: "/data/x", value: "run" }], { fieldManager: "x".repeat(129) }),
    asked(MAP, [{ op: "add", path: "/none", value: "run" }], { fieldValidation: "Strict" }),
    asked(MAP, [{ op: "add", path: "/none", value: "run" }], { fieldValidation: "Ignore" }),
    asked(MAP, [{ op: "add", path: "/none", value: "run" }], { fieldValidation: "Other" }),
    asked(MAP, `[{"op":"add","path":"/data/x","value":"1","value":"2"}]`, { fieldValidation: "Strict" }),
    asked(MAP, `[{"op":"add","path":"/data/x","value":"1","other":"2"}]`, { fieldValidation: "Strict" }),
    asked(MAP, `[{"op":"add","path":"/data/x","value":{"a":1,"a":2}}]`, { fieldValidation: "Strict" }),
    asked(
      MAP,
      Array.from({ length: 10001 }, () => ({ op: "test", path: "/data/x", value: "run" })),
    ),
    ...defined(
      definition(
        GROUP,
        "Thing",
        {
          ...withSpec({
            list: { type: "array", items: { type: "integer" } },
            count: { type: "integer" },
            free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          }),
          "x-kubernetes-preserve-unknown-fields": true,
        },
        { subresources: { status: {} } },
      ),
    ),
    step(
      post(THINGS, {
        apiVersion: `${GROUP}/v1`,
        kind: "Thing",
        metadata: { name: "a" },
        spec: { count: 1 },
        data: { x: "1" },
      }),
    ),
    ...onMaps.map((body) => asked(`${THINGS}/a`, typeof body === "string" ? body : JSON.stringify(body))),
    ...onThings.map((body) => asked(`${THINGS}/a`, body)),
    asked(`${THINGS}/a/status`, [{ op: "add", path: "/status", value: { phase: "Done" } }]),
    asked(`${THINGS}/a/status`, [{ op: "add", path: "/spec/count", value: 7 }]),
    asked(`${THINGS}/a/status`, [{ op: "test", path: "/status/phase", value: "Done" }]),
    step(get(`${THINGS}/a`)),
  ],
};
export default family;
