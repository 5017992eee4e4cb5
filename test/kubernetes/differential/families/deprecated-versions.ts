import { DEFINITIONS } from "../definitions.ts";
import { APPLY, del, type Family, get, type Json, MERGE, patch, post, type Step, served, step } from "../step.ts";

const GROUP = "deprecated-versions.example.com";
const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const OLD = { deprecated: true };

/** A kind with these versions, the first of which is stored. */
function definition(kind: string, versions: Record<string, object>): Json {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Cluster",
      names: { plural, kind },
      versions: Object.entries(versions).map(([name, more], i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: ANY },
        subresources: { status: {} },
        ...more,
      })),
    },
  };
}

const kinds: Record<string, Record<string, object>> = {
  Newer: { v1: {}, v1alpha1: OLD, v1beta1: OLD, v1beta2: {}, v2alpha1: {} },
  Unserved: { v1beta1: OLD, v1: { served: false }, v1alpha1: {} },
  Allold: { v1: OLD, v2: OLD },
  Latest: { v2: OLD, v1: {} },
  Worded: { v2: {}, v1: { ...OLD, deprecationWarning: "take boats instead" } },
  Odd: { foo: OLD, bar: {}, v0: {} },
  Named: { foo: OLD, bar: {}, qux: {} },
};

/** Every way to use a version: each is warned of, or none. */
function used(kind: string, version: string): Step[] {
  const path = `/apis/${GROUP}/${version}/${kind.toLowerCase()}s`;
  const object = { apiVersion: `${GROUP}/${version}`, kind, metadata: { name: "a" } };
  return [
    step(post(path, object)),
    step(get(`${path}/a`)),
    step(get(path)),
    step({ ...get(path, { watch: "true", timeoutSeconds: "1" }) }, { watch: { events: 1 } }),
    step(patch(`${path}/a`, MERGE, { spec: { a: 1 } })),
    step(patch(`${path}/a/status`, MERGE, { status: { a: 1 } })),
    step(patch(`${path}/a`, APPLY, { ...object, spec: { b: 1 } }, { query: { fieldManager: "x" } })),
    step(get(`${path}/absent`)),
    step(del(`${path}/a`)),
    step(del(path)),
  ];
}

const steps: Step[] = Object.entries(kinds).flatMap(([kind, versions]) => {
  const shown = Object.entries(versions).filter(([, more]) => (more as { served?: boolean }).served !== false);
  return [
    step(post(DEFINITIONS, definition(kind, versions))),
    ...shown.flatMap(([version]) => served(`${kind.toLowerCase()}s.${GROUP}`, version)),
    ...shown.flatMap(([version]) => used(kind, version)),
  ];
});

export default { name: "deprecated-versions", steps } satisfies Family;
