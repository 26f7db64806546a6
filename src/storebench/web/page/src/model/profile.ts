/** Read sampled stacks in the folded format: a line for each stack, the innermost function last, then the number of samples. */

/** A function on a stack, with all stacks that share the functions outside it. */
export interface Frame {
  name: string;
  /** Samples in this function, and in the functions that it called. */
  total: number;
  children: Map<string, Frame>;
}

const LINE = /^(.*\S) (\d+)$/;

/** Return each stack's functions and its number of samples. Other lines are ignored. */
export const stacksOf = (folded: string): [string[], number][] =>
  folded.split("\n").flatMap((line): [string[], number][] => {
    const [, stack, samples] = LINE.exec(line.trim()) ?? [];
    return stack === undefined ? [] : [[stack.split(";"), Number(samples)]];
  });

/** Return the stacks as a tree. The root, named `all`, is no function. */
export function treeOf(stacks: [string[], number][]): Frame {
  const root: Frame = { name: "all", total: 0, children: new Map() };
  for (const [names, samples] of stacks) {
    let frame = root;
    frame.total += samples;
    for (const name of names) {
      const child: Frame = frame.children.get(name) ?? { name, total: 0, children: new Map() };
      frame.children.set(name, child);
      child.total += samples;
      frame = child;
    }
  }
  return root;
}

/** Return the frame of a path of functions below the root; the root itself if there is no such frame. */
export const frameAt = (root: Frame, path: readonly string[]): Frame =>
  path.reduce<Frame | undefined>((frame, name) => frame?.children.get(name), root) ?? root;

/** A frame's place in a flame graph: its depth, and the samples on its left and up to its end. */
export interface Box {
  name: string;
  path: string[];
  depth: number;
  from: number;
  to: number;
}

/** Return the places of a frame and of the frames below it. Frames with fewer than `least` samples are too narrow to show. */
export function boxesOf(frame: Frame, path: string[], least: number, depth = 0, from = 0): Box[] {
  const boxes = [{ name: frame.name, path, depth, from, to: from + frame.total }];
  let left = from;
  for (const child of [...frame.children.values()].sort((one, other) => other.total - one.total)) {
    if (child.total >= least) boxes.push(...boxesOf(child, [...path, child.name], least, depth + 1, left));
    left += child.total;
  }
  return boxes;
}

/** A function's samples: `self` while it ran itself, `total` also while the functions ran that it called. */
export interface TopFunction {
  name: string;
  self: number;
  total: number;
}

/** Return the functions with the most samples of their own, at most `most`. A function that calls itself counts once in a stack. */
export function topFunctions(stacks: [string[], number][], most: number): TopFunction[] {
  const functions = new Map<string, TopFunction>();
  const of = (name: string) => {
    const found = functions.get(name) ?? { name, self: 0, total: 0 };
    functions.set(name, found);
    return found;
  };
  for (const [names, samples] of stacks) {
    for (const name of new Set(names)) of(name).total += samples;
    of(names.at(-1) ?? "").self += samples;
  }
  return [...functions.values()]
    .filter(({ self }) => self > 0)
    .sort((one, other) => other.self - one.self || other.total - one.total)
    .slice(0, most);
}
