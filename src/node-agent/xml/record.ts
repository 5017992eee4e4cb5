/**
 * What the agent writes into the definitions of domains and networks that are its own. Who is marked so is its; nothing else is ever touched.
 * The record is all that it has to remember: it keeps no files about them.
 */
import { z } from "zod";
import { type Element, element, textElement } from "./element.ts";

/** XML namespace of the records. */
export const NAMESPACE = "https://slipway.dev/vino/1";
const PREFIX = "slipway";

const volume = z.object({ pool: z.string(), name: z.string() });

const domainRecord = z.object({
  /** The VinoNode that it is of: namespace/name. */
  owner: z.string(),
  /** The VinoNode in the state that the definition was written by. Definitions of earlier agents have none. */
  origin: z.object({ uid: z.string(), generation: z.number() }).optional(),
  /** Of what the definition was written from, without what is below. */
  checksum: z.string(),
  /** Volumes that are deleted with it: its disks. */
  volumes: z.array(volume),
  /** What it boots from next, where that is not the usual order. */
  boot: z
    .object({
      enabled: z.enum(["Once", "Continuous"]),
      target: z.enum(["Pxe", "Hdd", "Cd"]),
      /** Tells a single boot from the one that the machine runs by. Definitions of earlier agents have none. */
      number: z.number().optional(),
    })
    .optional(),
  /** The image for its CD drive. `inserted`: it is there as a whole. */
  media: z.object({ url: z.string(), volume, inserted: z.boolean() }).optional(),
});

const networkRecord = z.object({ checksum: z.string() });

export type DomainRecord = z.infer<typeof domainRecord>;
export type Origin = NonNullable<DomainRecord["origin"]>;
export type NetworkRecord = z.infer<typeof networkRecord>;
export type BootRecord = NonNullable<DomainRecord["boot"]>;

/** The `<metadata>` of a definition. */
export function metadata(record: DomainRecord | NetworkRecord): Element {
  return element(
    "metadata",
    {},
    textElement(`${PREFIX}:record`, JSON.stringify(record), { [`xmlns:${PREFIX}`]: NAMESPACE }),
  );
}

/** The record of a domain; undefined: it is not the agent's. */
export function domainRecordOf(definition: Element): DomainRecord | undefined {
  return parsed(definition, domainRecord);
}

/** The record of a network; undefined: it is not the agent's. */
export function networkRecordOf(definition: Element): NetworkRecord | undefined {
  return parsed(definition, networkRecord);
}

function parsed<T>(definition: Element, schema: z.ZodType<T>): T | undefined {
  const holder = definition.children.find(({ name }) => name === "metadata");
  const found = holder?.children.find(({ name, attributes }) => {
    const [prefix, local] = name.split(":");
    return local === "record" && attributes[`xmlns:${prefix}`] === NAMESPACE;
  });
  if (found === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(found.text));
  } catch {
    return undefined;
  }
}
