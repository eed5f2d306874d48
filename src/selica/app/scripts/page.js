// What the whole page has: charts are drawn where their data are put, tables are sorted by a click.
const look = () => {
  for (const place of document.querySelectorAll("[data-chart]:empty")) charted(place);
};

export default function ({ parentElement }) {
  if (parentElement.looks) return undefined;
  parentElement.looks = new MutationObserver(look);
  ground = () => getComputedStyle(parentElement).getPropertyValue("--st-background-color");
  parentElement.looks.observe(document.body, { subtree: true, childList: true });
  document.addEventListener("click", sort);
  look();
  return () => {
    parentElement.looks.disconnect();
    delete parentElement.looks;
    document.removeEventListener("click", sort);
  };
}
