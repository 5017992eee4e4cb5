/** The kinds of Kamaji's control plane provider (controlplane.cluster.x-k8s.io), each with its versions. */
import type { Kind } from "../kind.ts";
import { KamajiControlPlane, KamajiControlPlaneV1alpha1 } from "./kamaji-control-plane.ts";
import { KamajiControlPlaneTemplate, KamajiControlPlaneTemplateV1alpha1 } from "./kamaji-control-plane-template.ts";

export const KAMAJI_CONTROL_PLANE_KINDS: readonly (readonly Kind[])[] = [
  [KamajiControlPlane, KamajiControlPlaneV1alpha1],
  [KamajiControlPlaneTemplate, KamajiControlPlaneTemplateV1alpha1],
];
