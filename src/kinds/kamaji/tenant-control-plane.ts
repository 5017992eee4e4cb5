import { z } from "zod";
import { defineKind, type Of } from "../kind.ts";
import { flag, text } from "../optional.ts";
import { controlPlane } from "./control-plane.ts";
import { GROUP, VERSION } from "./fields.ts";
import { addons, kubernetes, networkProfile } from "./tenant-kubernetes.ts";
import { rules } from "./tenant-rules.ts";
import { tenantStatus } from "./tenant-status.ts";

/** A Kubernetes control plane for a tenant, run by the management cluster (Kamaji). */
export const TenantControlPlane = defineKind({
  group: GROUP,
  version: VERSION,
  kind: "TenantControlPlane",
  plural: "tenantcontrolplanes",
  namespaced: true,
  shortNames: ["tcp"],
  categories: ["kamaji"],
  description:
    "A Kubernetes control plane for a tenant, which runs beside the management cluster and which the tenant's nodes join.",
  spec: z.object({
    dataStore: text("DataStore that holds the tenant's objects. Another of the same driver: they are moved to it."),
    dataStoreSchema: text("Database, or prefix of the keys in etcd. Default: the object's UID. Can't be changed."),
    dataStoreUsername: text("User in the database. Default: the object's UID. Can't be changed."),
    dataStoreOverrides: z
      .array(
        z.object({
          resource: text("Resource of Kubernetes, as kube-apiserver names it: /events, apps/deployments."),
          dataStore: text("DataStore that holds the objects of the resource."),
        }),
      )
      .optional()
      .describe("Resources that are held in another DataStore. With driver etcd only."),
    writePermissions: z
      .object({
        blockCreation: flag("Nothing can be created."),
        blockUpdate: flag("Nothing can be changed."),
        blockDeletion: flag("Nothing can be deleted."),
      })
      .optional()
      .describe("What is refused in the tenant, to protect the datastore or to hold it still."),
    controlPlane: controlPlane.describe("How the control plane runs and is reached in the management cluster."),
    kubernetes: kubernetes.describe("Kubernetes of the tenant."),
    networkProfile: networkProfile.optional().describe("Addresses and names of the tenant."),
    addons: addons.optional().describe("What is installed in the tenant."),
  }),
  status: tenantStatus,
  columns: [
    {
      ...{ name: "Version", type: "string", jsonPath: ".spec.kubernetes.version" },
      description: "Wanted version of Kubernetes.",
    },
    {
      ...{ name: "Installed Version", type: "string", jsonPath: ".status.kubernetesResources.version.version" },
      description: "Version of Kubernetes that runs.",
    },
    {
      ...{ name: "Status", type: "string", jsonPath: ".status.kubernetesResources.version.status" },
      description: "State of the control plane.",
    },
    {
      ...{ name: "Control-Plane endpoint", type: "string", jsonPath: ".status.controlPlaneEndpoint" },
      description: "Address of kube-apiserver.",
    },
    {
      ...{ name: "Kubeconfig", type: "string", jsonPath: ".status.kubeconfig.admin.secretName" },
      description: "Secret with the kubeconfig of administrators.",
    },
    {
      ...{ name: "Datastore", type: "string", jsonPath: ".status.storage.dataStoreName" },
      description: "DataStore that holds the tenant's objects.",
    },
  ],
  scale: {
    specReplicasPath: ".spec.controlPlane.deployment.replicas",
    statusReplicasPath: ".status.kubernetesResources.deployment.replicas",
    labelSelectorPath: ".status.kubernetesResources.deployment.selector",
  },
  rules,
});
export type TenantControlPlane = Of<typeof TenantControlPlane>;
export type TenantControlPlaneSpec = TenantControlPlane["spec"];
export type TenantControlPlaneStatus = NonNullable<TenantControlPlane["status"]>;
