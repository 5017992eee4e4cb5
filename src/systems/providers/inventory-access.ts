import type { Access } from "@slipway/kube";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

/** What the inventory's driver does to hosts. Rights to the Secrets beside them come with the system that drives the hosts. */
export const inventoryAccess: readonly Access[] = [{ resource: BareMetalHost, verbs: ["get", "list", "patch"] }];
