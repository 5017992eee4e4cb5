import { copies } from "./copies.ts";
import { NEEDS as KINE } from "./servers/kine.ts";
import { NEEDS, nats } from "./servers/nats.ts";
import { skipWithout } from "./servers/programs.ts";

copies(nats, skipWithout([...NEEDS, ...KINE], "Debian's packages; make kube-assets NAMES=kine"));
