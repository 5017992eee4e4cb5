/** The kinds of Cluster API's bootstrap by kubeadm (bootstrap.cluster.x-k8s.io), each with its versions. */
import type { Kind } from "../kind.ts";
import { KubeadmConfig, KubeadmConfigV1beta1 } from "./kubeadm-config.ts";
import { KubeadmConfigTemplate, KubeadmConfigTemplateV1beta1 } from "./kubeadm-config-template.ts";

export const KUBEADM_KINDS: readonly (readonly Kind[])[] = [
  [KubeadmConfig, KubeadmConfigV1beta1] as unknown as readonly Kind[],
  [KubeadmConfigTemplate, KubeadmConfigTemplateV1beta1] as unknown as readonly Kind[],
];
