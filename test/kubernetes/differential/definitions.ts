import { type Json, post, type Step, served, step } from "./step.ts";

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A definition of one served and stored version, `v1`. `group`: the family's. `more` goes into the version. */
export function definition(group: string, kind: string, schema: Json, more: Json = {}): Json {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  };
}

/** An object schema whose `spec` has these properties. */
export function withSpec(properties: Json, more: Json = {}): Json {
  return { type: "object", properties: { spec: { type: "object", properties, ...more } } };
}

/** Makes the definition and waits until it is served; none of it is compared. */
export function defined(definition: Json): Step[] {
  return [step(post(DEFINITIONS, definition), { unseen: true }), ...served(definition.metadata.name)];
}
