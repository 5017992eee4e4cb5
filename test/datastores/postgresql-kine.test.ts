import { copies } from "./copies.ts";
import { NEEDS as KINE } from "./servers/kine.ts";
import { NEEDS, postgresql } from "./servers/postgresql.ts";
import { skipWithout } from "./servers/programs.ts";

copies(postgresql, skipWithout([...NEEDS, ...KINE], "Debian's packages; make kube-assets NAMES=kine"));
