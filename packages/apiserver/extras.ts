/**
 * What an embedded API seldom needs, to be passed in as `createApiServer({ extras })`: `EXTRAS` for a server that people and their tools
 * use, none or single ones for a test.
 */
import { impersonation as impersonationBy } from "./auth/impersonate.ts";
import { controllerRevision } from "./builtin/daemon-set.ts";
import { podTemplate } from "./builtin/pod-template.ts";
import { replicationController } from "./builtin/replication-controller.ts";
import { csiDriver, csiNode, volumeAttachment } from "./builtin/storage.ts";
import type { Extra } from "./dispatch/extra.ts";
import { encodeOpenApiV2 } from "./schema/openapi-v2-protobuf.ts";

export type { Extra } from "./dispatch/extra.ts";

/** The headers `Impersonate-*`: kubectl's `--as` and `--as-group`. */
export const impersonation: Extra = { impersonation: impersonationBy };

/** OpenAPI v2 in protobuf: kubectl before 1.27 takes no other form. */
export const openApiV2Protobuf: Extra = { openApiV2Protobuf: encodeOpenApiV2 };

/** Workloads of old, and what controllers of workloads write down: ReplicationController, PodTemplate, ControllerRevision. */
export const oldWorkloads: Extra = { resources: [podTemplate, replicationController, controllerRevision] };

/** What storage drivers and kubelets say to each other: CSIDriver, CSINode, VolumeAttachment. */
export const storageDrivers: Extra = { resources: [volumeAttachment, csiNode, csiDriver] };

/** All of them. */
export const EXTRAS: readonly Extra[] = [impersonation, openApiV2Protobuf, oldWorkloads, storageDrivers];
