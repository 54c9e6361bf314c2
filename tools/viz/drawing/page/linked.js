// The cameras of two panes that are compared: where one looks, the other does.

/** Instructions of a box that are asked for what they correspond to. */
const kMostAsked = 8;

/** The place of a box that is kept: of open ones the title. */
const placeOfBox = (box, x, y) => [x + box.w / 2, y + Math.min(box.h, 40) / 2];

/** The visible boxes of two panes that correspond, as [x, y, x there, y there, item]. */
function matchingPlaces(page, pane, other) {
  const places = new Map();
  other.scene.walk((box, x, y) => { places.set(box.item, placeOfBox(box, x, y)); });
  const found = [];
  pane.scene.walk((box, x, y) => {
    for (const inst of instructionsIn(box.item).slice(0, kMostAsked)) {
      const there = page.counterpart(inst);
      const place = there && places.get(visibleItem(other.tree, there));
      if (!place) continue;
      found.push([...placeOfBox(box, x, y), ...place, box.item]);
      break;
    }
  });
  return found;
}

/** The box in which an instruction is seen, as far as items were made; undefined if there is none. */
function visibleItem(tree, inst) {
  const made = tree.itemsOf.get(inst);
  return made?.[0] && tree.visibleOf(made[0]);
}

/**
 * A camera for the other pane: what corresponds to the middle of this one stands at the same place. Near
 * pairs count most, one that is selected more, so that the other pane moves without leaps.
 */
function matchingCamera(camera, places, selected) {
  let sum = 0, right = 0, down = 0;
  for (const [x, y, thereX, thereY, item] of places) {
    const square = ((x - camera.x) ** 2 + (y - camera.y) ** 2) * camera.scale ** 2;
    const weight = (item === selected ? 1000 : 1) / (square + 100) ** 2;
    sum += weight;
    right += weight * (thereX - x);
    down += weight * (thereY - y);
  }
  return sum ? {x: camera.x + right / sum, y: camera.y + down / sum, scale: camera.scale} : null;
}
