/**
 * The status of a KamajiControlPlane. Both contracts of Cluster API (v1beta1, v1beta2) are reported in both versions of the kind, so a core
 * of either contract reads what it looks for.
 */
import { z } from "zod";
import { Conditions } from "../condition.ts";
import { count } from "../kamaji/fields.ts";
import { flag, text } from "../optional.ts";

export const controlPlaneStatus = z.object({
  externalManagedControlPlane: z
    .boolean()
    .default(true)
    .describe("The cluster has no Machines of control planes: Cluster API looks for none."),
  initialization: z
    .object({ controlPlaneInitialized: flag("The API server has answered once. It stays true.") })
    .optional()
    .describe("Contract v1beta2: what is done once."),
  initialized: flag("Contract v1beta1: the API server has answered once. It stays true."),
  ready: flag("Contract v1beta1: the control plane can be used now."),
  version: text("Version of Kubernetes that runs."),
  versions: z
    .array(z.object({ version: text("Version of Kubernetes."), replicas: count("Replicas of this version.") }))
    .optional()
    .describe("Contract v1beta2: versions that run, the oldest first."),
  replicas: count("Replicas of the control plane."),
  readyReplicas: count("Replicas that are ready."),
  availableReplicas: count("Contract v1beta2: replicas that can be used."),
  upToDateReplicas: count("Contract v1beta2: replicas of the wanted version."),
  updatedReplicas: count("Contract v1beta1: replicas of the wanted version."),
  unavailableReplicas: count("Contract v1beta1: replicas that can't be used."),
  selector: text("Selector of the Pods, for the scale subresource."),
  waitingFor: text("What is waited for. Absent: nothing."),
  waitingSince: z.string().meta({ format: "date-time" }).optional().describe("Since when it is waited for."),
  failureReason: text("What can't be healed without a change of the object, in one word."),
  failureMessage: text("What can't be healed without a change of the object, and what to do."),
  observedGeneration: z.int().optional().describe("Generation of the object that this status is about."),
  conditions: Conditions.optional(),
});
