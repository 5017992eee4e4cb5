/** The kinds of Kamaji (kamaji.clastix.io), each with its versions. */
import type { Kind } from "../kind.ts";
import { DataStore } from "./data-store.ts";
import { KubeconfigGenerator } from "./kubeconfig-generator.ts";
import { TenantControlPlane } from "./tenant-control-plane.ts";

export const KAMAJI_KINDS: readonly (readonly Kind[])[] = [[DataStore], [TenantControlPlane], [KubeconfigGenerator]];
