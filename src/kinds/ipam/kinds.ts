/** Kinds of address management, each with all its versions, the stored one first. */
import type { Kind } from "../kind.ts";
import { GlobalInClusterIPPool, InClusterIPPool } from "./in-cluster-ip-pool.ts";
import { IPAddress, IPAddressV1beta1 } from "./ip-address.ts";
import { IPAddressClaim, IPAddressClaimV1beta1 } from "./ip-address-claim.ts";
import { IPPool } from "./ip-pool.ts";

export const IPAM_KINDS = [
  [IPAddressClaim, IPAddressClaimV1beta1],
  [IPAddress, IPAddressV1beta1],
  [InClusterIPPool],
  [GlobalInClusterIPPool],
  [IPPool],
] as unknown as readonly (readonly Kind[])[];
