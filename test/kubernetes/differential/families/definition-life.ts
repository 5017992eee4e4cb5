import { DEFINITIONS, definition, withSpec } from "../definitions.ts";
import { APPLY, del, type Family, get, type Json, MERGE, patch, post, put, served, step } from "../step.ts";

const GROUP = "definition-life.example.com";
const THINGS = `/apis/${GROUP}/v1/namespaces/diff-definition-life/things`;
const dry = { query: { dryRun: "All" } };
const object = (): Json => ({ type: "object" });

const family: Family = {
  name: "definition-life",
  steps: [
    // The life of one.
    step(
      post(
        DEFINITIONS,
        definition(GROUP, "Thing", withSpec({ a: { type: "string" } }), { subresources: { status: {} } }),
      ),
    ),
    ...served(`things.${GROUP}`),
    step(get(`${DEFINITIONS}/things.${GROUP}`), { keep: "crd" }),
    step(post(DEFINITIONS, definition(GROUP, "Thing", withSpec({})))),
    step((kept) => put(`${DEFINITIONS}/things.${GROUP}`, kept.crd!.body)),
    step(patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { group: "other.example.com" } })),
    step(patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { scope: "Cluster" } })),
    step(patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { names: { plural: "others" } } })),
    step(patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { names: { kind: "Other" } } }, dry)),
    step(
      patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { names: { shortNames: ["th"], categories: ["all"] } } }),
    ),
    step(get(`${DEFINITIONS}/things.${GROUP}`), {
      until: ({ body }) => body.status.acceptedNames.shortNames !== undefined,
    }),
    step(
      patch(
        `${DEFINITIONS}/things.${GROUP}`,
        MERGE,
        { spec: { versions: [] } },
        { query: { fieldManager: "empty-versions" } },
      ),
    ),
    step((kept) => {
      const [v1] = kept.crd!.body.spec.versions;
      const v2 = { ...v1, name: "v2", storage: true };
      return patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { versions: [{ ...v1, storage: false }, v2] } });
    }),
    ...served(`things.${GROUP}`, "v2"),
    step(get(`${DEFINITIONS}/things.${GROUP}`), { until: ({ body }) => body.status.storedVersions.length === 2 }),
    step((kept) => {
      const [v1] = kept.crd!.body.spec.versions;
      return patch(`${DEFINITIONS}/things.${GROUP}`, MERGE, { spec: { versions: [{ ...v1, name: "v2" }] } });
    }),
    step(patch(`${DEFINITIONS}/things.${GROUP}/status`, MERGE, { status: { storedVersions: ["v2"] } })),
    step(patch(`${DEFINITIONS}/things.${GROUP}/status`, MERGE, { status: { storedVersions: [] } })),
    step(patch(`${DEFINITIONS}/things.${GROUP}/status`, MERGE, { status: { storedVersions: ["v9"] } })),
    // A rival for the names is not served.
    step(
      post(DEFINITIONS, {
        ...definition(GROUP, "Rival", object()),
        spec: {
          ...definition(GROUP, "Rival", object()).spec,
          names: { plural: "rivals", kind: "Thing", singular: "thing", shortNames: ["th"] },
        },
      }),
    ),
    step(get(`${DEFINITIONS}/rivals.${GROUP}`), {
      until: ({ body }) =>
        (body.status?.conditions ?? []).some((c: Json) => c.type === "NamesAccepted" && c.status === "False"),
    }),
    step(get(`/apis/${GROUP}/v1/rivals`)),
    step(del(`${DEFINITIONS}/rivals.${GROUP}`)),
    // It takes its objects along, when nothing holds them.
    step(
      post(THINGS, {
        apiVersion: `${GROUP}/v1`,
        kind: "Thing",
        metadata: { name: "a", finalizers: ["example.com/hold"] },
        spec: { a: "x" },
      }),
    ),
    step(del(`${DEFINITIONS}/things.${GROUP}`)),
    step(get(`${DEFINITIONS}/things.${GROUP}`), {
      until: ({ body }) => (body.status?.conditions ?? []).some((c: Json) => c.reason === "InstanceDeletionInProgress"),
    }),
    step(post(THINGS, { apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name: "late" } })),
    step(get(`${THINGS}/a`), { until: ({ body }) => body.metadata.deletionTimestamp !== undefined }),
    step(patch(`${THINGS}/a`, MERGE, { metadata: { finalizers: null } })),
    step(get(`${DEFINITIONS}/things.${GROUP}`), { until: ({ status }) => status === 404 }),
    step(get(THINGS), { until: ({ status }) => status === 404 }),
    step(
      patch(
        `${DEFINITIONS}/applied.${GROUP}`,
        APPLY,
        { ...definition(GROUP, "Applied", object()), metadata: { name: `applied.${GROUP}` } },
        { query: { fieldManager: "a" } },
      ),
    ),
    step(
      patch(
        `${DEFINITIONS}/applieds.${GROUP}`,
        APPLY,
        definition(GROUP, "Applied", withSpec({ x: { type: "string" } })),
        { query: { fieldManager: "a" } },
      ),
    ),
    ...served(`applieds.${GROUP}`),
    step(
      patch(
        `${DEFINITIONS}/applieds.${GROUP}`,
        APPLY,
        definition(GROUP, "Applied", withSpec({ y: { type: "string" } })),
        { query: { fieldManager: "a" } },
      ),
    ),
    step(del(`${DEFINITIONS}/applieds.${GROUP}`)),
  ],
};
export default family;
