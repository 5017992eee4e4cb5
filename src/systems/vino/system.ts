import { z } from "zod";
import { Vino } from "../../kinds/vino/vino.ts";
import { VinoNode } from "../../kinds/vino/vino-node.ts";
import { system } from "../system.ts";
import { vinoAgentController } from "./agent/agent-controller.ts";
import { DAEMON_SET, STATE_FOLDER } from "./agent/daemon-set.ts";
import { vinoMarkController } from "./mark-controller.ts";
import { VINO } from "./names.ts";
import { vinoNodeController } from "./node-controller.ts";
import { vinoController } from "./vino-controller.ts";

/** Virtual machines on the nodes of the management cluster, by the kind of Airship's ViNO: each is offered as a BareMetalHost. */
export const vino = system({
  name: VINO,
  summary: "Vinos: virtual machines on nodes of this cluster, offered as BareMetalHosts",
  kinds: [[Vino], [VinoNode]],
  shows: { pools: [Vino] },
  kindsMayBeForeign: true,
  settings: z.strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("make the virtual machines of Vinos, and offer them as hosts; not beside Airship's own ViNO")
      .meta({ flag: "--vinos" }),
    agentImage: z
      .string()
      .min(1)
      .optional()
      .describe("image of the agent on the nodes of Vinos; unset: no DaemonSet is made, the agents are run by others")
      .meta({ flag: "--vino-agent-image <image>" }),
    libvirtImage: z
      .string()
      .min(1)
      .optional()
      .describe("image that runs libvirt beside the agent; unset: the nodes run libvirt themselves")
      .meta({ flag: "--vino-libvirt-image <image>" }),
    agentAccount: z
      .string()
      .min(1)
      .default(DAEMON_SET)
      .describe("ServiceAccount of the agents, in the operator's namespace")
      .meta({ flag: "--vino-agent-account <name>" }),
  }),
  canRun: ({ enabled }) => enabled,
  onLaptop: { enabled: true },
  act: () => import("./act.ts"),
  parts({ namespace, onSecret }, { agentImage: image, libvirtImage, agentAccount }) {
    const account = { namespace, name: agentAccount };
    return {
      controllers: [
        vinoController(namespace),
        vinoNodeController({ namespace, account, onSecret }),
        vinoMarkController(),
        vinoAgentController({ account, image, libvirtImage, arguments: ["node-agent", `--dir=${STATE_FOLDER}`] }),
      ],
    };
  },
});
