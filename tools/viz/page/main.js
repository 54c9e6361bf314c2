// Starts the page.

const data = id => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};
const module = new Module(data('module-text') ?? '');
const list = document.createElement('pre');
list.textContent = module.computations.map(c => c.text).join('\n\n');
document.body.append(list);
