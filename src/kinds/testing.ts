import type { KubeObject } from "@slipway/kube";
import { z } from "zod";
import { defineKind, type Kind, type VersionConversion } from "./kind.ts";

/** A kind of this name for tests, with nothing in it but a word for its state. */
export const madeUp = (kind: string): Kind =>
  defineKind({
    ...{ group: "example.com", version: "v1", kind, plural: `${kind.toLowerCase()}s`, namespaced: false },
    ...{
      description: "Made up.",
      spec: z.object({}),
      status: z.object({ status: z.string().optional() }),
      columns: [],
    },
  }) as unknown as Kind;

/** Of a kind for tests of conversion, whose versions call the name differently. */
export type Boat = KubeObject & { spec: { name?: string; title?: string; label?: string; oars?: number } };

/** The version of the kind that calls the name `field`. Without a `conversion`, it has the same fields as the stored one. */
export function boat(
  version: string,
  field: keyof Boat["spec"],
  { conversion, served = true }: { conversion?: VersionConversion; served?: boolean } = {},
): Kind<Boat> {
  return defineKind({
    group: "sea.example.org",
    version,
    kind: "Boat",
    plural: "boats",
    namespaced: true,
    description: "Something that floats.",
    spec: z.object({ [field]: z.string().optional(), oars: z.int().optional() }),
    columns: [],
    served,
    ...(conversion && { conversion }),
  }) as unknown as Kind<Boat>;
}

/** The conversion of the version that says `field` where the stored one says `name`. `sunk`: throws what to say of a boat with that name. */
export function renaming(field: keyof Boat["spec"], sunk?: (object: KubeObject) => Error): VersionConversion {
  const move = (object: KubeObject, from: keyof Boat["spec"], to: keyof Boat["spec"]): KubeObject => {
    const { [from]: value, ...rest } = (object as Boat).spec;
    if (sunk !== undefined && value === "sunk") throw sunk(object);
    return { ...object, spec: { ...rest, ...(value !== undefined && { [to]: value }) } } as KubeObject;
  };
  return {
    toStored: (object) => move(object, field, "name"),
    fromStored: (object) => move(object, "name", field),
  };
}

/** An object of the kind, called "a", as that version has it. */
export const aBoat = (version: string, spec: Boat["spec"]): KubeObject =>
  ({ apiVersion: `sea.example.org/${version}`, kind: "Boat", metadata: { name: "a" }, spec }) as Boat;
