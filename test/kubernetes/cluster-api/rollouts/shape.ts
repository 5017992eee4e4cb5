/** Roll-outs of many shapes: what a deployment begins with, and what its user does to it in the middle. Drawn from a seed. */
import { type Random, seededRandom } from "@slipway/base";

/** What a user changes. */
export type Change = { template: string } | { replicas: number } | { paused: boolean };

export interface Shape {
  name: string;
  replicas: number;
  strategy: object;
  /** Each after so many steps of the hosts, or earlier when nothing is left for them to do. */
  changes: readonly (Change & { after: number })[];
  /** Templates whose Machines never become ready. */
  broken: ReadonlySet<string>;
}

const PACES = [
  ...([
    [1, 0],
    [0, 1],
    [2, 2],
    [3, 1],
    [12, 0],
    [0, 12],
  ] as const),
  ...([
    ["50%", "25%"],
    ["100%", 0],
    [0, "100%"],
    ["25%", "34%"],
    ["10%", "10%"],
    [1, "50%"],
  ] as const),
] as const;

/** What happens to a deployment that is being rolled out to template b. `after` draws how long it is let alone. */
const COURSES: Readonly<Record<string, (replicas: number, after: () => number) => Shape["changes"]>> = {
  once: () => [],
  again: (_, after) => [{ template: "c", after: after() }],
  back: (_, after) => [{ template: "a", after: after() }],
  grow: (replicas, after) => [{ replicas: Math.min(12, 2 * replicas), after: after() }],
  shrink: (replicas, after) => [{ replicas: Math.floor(replicas / 2), after: after() }],
  "to-none": (replicas, after) => [
    { replicas: 0, after: after() },
    { replicas, after: after() },
  ],
  "grow-again": (replicas, after) => [
    { replicas: replicas + 2, after: after() },
    { template: "c", after: after() },
    { replicas: Math.ceil(replicas / 2), after: after() },
  ],
  pause: (_, after) => [
    { paused: true, after: after() },
    { paused: false, after: after() },
  ],
  "pause-grow": (replicas, after) => [
    { paused: true, after: after() },
    { replicas: Math.min(12, replicas + 3), after: after() },
    { paused: false, after: after() },
  ],
  "pause-shrink": (replicas, after) => [
    { paused: true, after: after() },
    { replicas: Math.floor(replicas / 2), after: after() },
    { paused: false, after: after() },
  ],
  "pause-again": (replicas, after) => [
    { paused: true, after: after() },
    { template: "c", after: after() },
    { replicas: replicas + 1, after: after() },
    { paused: false, after: after() },
  ],
  broken: (_, after) => [{ template: "c", after: after() }],
  "broken-grow": (replicas, after) => [
    { replicas: replicas + 2, after: after() },
    { template: "c", after: after() },
  ],
};

const NEVER = Number.POSITIVE_INFINITY;
const MOST_REPLICAS = 12;

/** So many shapes of RollingUpdate for each course, and one of OnDelete, which is large in every third course. */
export function shapes(seed: number, each: number): Shape[] {
  const random = seededRandom(seed);
  return Object.keys(COURSES).flatMap((course, at) => [
    ...Array.from({ length: each }, (_, nth) => rolling(course, at + nth, random)),
    ...(course.startsWith("broken") ? [] : [onDelete(course, at, random)]),
  ]);
}

function rolling(course: string, at: number, random: Random): Shape {
  const [maxSurge, maxUnavailable] = PACES[random.int(PACES.length)]!;
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
  const pace = `${maxSurge}-${maxUnavailable}`.replaceAll("%", "p");
  // Small ones are the rule: they have the corners, large ones the numbers.
  const replicas = isLarge(at) ? large(random) : 1 + random.int(6);
  return shapeOf(`${course}-${replicas}-by-${pace}-${at}`, course, { replicas, strategy }, random);
}

const isLarge = (at: number): boolean => at % 3 === 2;
const large = (random: Random): number => 7 + random.int(MOST_REPLICAS - 6);

function onDelete(course: string, at: number, random: Random): Shape {
  const replicas = isLarge(at) ? large(random) : 2 + random.int(4);
  return shapeOf(`${course}-${replicas}-on-delete`, course, { replicas, strategy: { type: "OnDelete" } }, random);
}

function shapeOf(
  name: string,
  course: string,
  { replicas, strategy }: Pick<Shape, "replicas" | "strategy">,
  random: Random,
): Shape {
  const after = (): number => 1 + random.int(4);
  // Every third one is changed before its first Machines are all there.
  const first = { template: "b", after: random.int(3) === 0 ? after() : NEVER };
  const broken = new Set(course.startsWith("broken") ? ["b"] : []);
  return { name, replicas, strategy, changes: [first, ...COURSES[course]!(replicas, after)], broken };
}
