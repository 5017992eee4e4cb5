import { clusterAddons } from "../systems/cluster-addons/system.ts";
import { clusterApi } from "../systems/cluster-api/system.ts";
import { harvester } from "../systems/harvester/system.ts";
import { ipam } from "../systems/ipam/system.ts";
import { kamaji } from "../systems/kamaji/system.ts";
import { kamajiControlPlane } from "../systems/kamaji-control-plane/system.ts";
import { kubeadmBootstrap } from "../systems/kubeadm-bootstrap/system.ts";
import { netboot } from "../systems/netboot/system.ts";
import { packet } from "../systems/packet/system.ts";
import { plunder } from "../systems/plunder/system.ts";
import { providers } from "../systems/providers/system.ts";
import { sip } from "../systems/sip/system.ts";
import type { System } from "../systems/system.ts";
import { vino } from "../systems/vino/system.ts";

/** All systems. The only list: everything else about each is derived from it. */
export const SYSTEMS: readonly System[] = [
  harvester,
  providers,
  netboot,
  kamaji,
  clusterApi,
  kamajiControlPlane,
  kubeadmBootstrap,
  packet,
  plunder,
  clusterAddons,
  sip,
  ipam,
  vino,
];
