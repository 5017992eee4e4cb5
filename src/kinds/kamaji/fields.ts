/**
 * Fields that Kamaji's kinds share. Spellings, enums, defaults and bounds are Kamaji's (kamaji.clastix.io/v1alpha1), so that its manifests
 * and clients fit.
 */
import { z } from "zod";
import { moment, text, textMap } from "../optional.ts";

export const GROUP = "kamaji.clastix.io";
export const VERSION = "v1alpha1";

/** Optional 32-bit number. */
export const count = (about: string) => z.int32().optional().describe(about);

/** An integer or a text, as Kubernetes has them for ports and shares. */
export const intOrString = z.union([z.int(), z.string()]);

/** Labels and annotations for an object that is made. */
export const metadata = (about: string) =>
  z
    .object({ labels: textMap("Labels to add."), annotations: textMap("Annotations to add.") })
    .optional()
    .describe(about);

/**
 * A part of a Pod that is copied into the Pod as it is written. Upstream repeats the Pod's schema here, some 9,000 lines of it. It is left
 * open because nothing here reads it, and the API refuses mistakes in it when the Deployment is written.
 */
export const partOfPod = (about: string) => z.looseObject({}).optional().describe(about);

/** As `partOfPod`: a list of named parts, of which the name alone is read. */
export const partsOfPod = (about: string) =>
  z
    .array(z.looseObject({ name: z.string().describe("Name, unique in the list.") }))
    .optional()
    .describe(about);

const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;
const quantities = (about: string) =>
  z
    .record(z.string(), z.union([z.int(), z.string().regex(QUANTITY)]))
    .optional()
    .describe(about);

/** Requests and limits of a container. */
export const resources = (about: string) =>
  z
    .object({
      claims: z
        .array(
          z.object({ name: z.string().describe("Name of the claim."), request: text("Request within the claim.") }),
        )
        .optional()
        .describe("Resource claims of the Pod that the container uses.")
        .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] }),
      limits: quantities("Most that the container may use."),
      requests: quantities("What is reserved for the container."),
    })
    .optional()
    .describe(about);

/** A toleration of a Pod. */
export const toleration = z.object({
  effect: text("Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. Empty: all."),
  key: text("Key of the taint. Empty: all, with operator Exists."),
  operator: text("Exists or Equal. Default: Equal."),
  tolerationSeconds: z.int().optional().describe("How long a NoExecute taint is tolerated. Default: without limit."),
  value: text("Value of the taint."),
});

/** What the status keeps of an object that is made: a checksum of its content, to see foreign changes. */
export const made = { checksum: text("Checksum of the content."), lastUpdate: moment("When it was last changed.") };
/** What the status keeps of a Secret that is made. */
export const secret = (about: string) =>
  z
    .object({ secretName: text("Name of the Secret."), ...made })
    .optional()
    .describe(about);
