// Copies and files: what leaves the page.

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Local files may lack the clipboard of the new kind.
    const area = make('textarea', {class: 'unseen'});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

function saveFile(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  make('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
