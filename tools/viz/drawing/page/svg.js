// The drawing as SVG: a context that writes down what is painted on it.

const xml = text => text.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c])
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ' ');
const round = n => Math.round(n * 100) / 100;

/** The part of CanvasRenderingContext2D that painters use. */
class SvgContext {
  constructor() {
    this.parts = [];
    this.path = '';
    this.dash = [];
    this.globalAlpha = 1;
    this.lineWidth = 1;
  }
  beginPath() { this.path = ''; }
  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.path += `L${round(x)} ${round(y)}`; }
  bezierCurveTo(a, b, c, d, x, y) { this.path += `C${[a, b, c, d, x, y].map(round).join(' ')}`; }
  closePath() { this.path += 'Z'; }
  arc(x, y, r) { this.path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`; }
  roundRect(x, y, w, h, radius) {
    const r = Math.min(radius, w / 2, h / 2), a = `a${round(r)} ${round(r)} 0 0 1 `;
    this.path += `M${round(x + r)} ${round(y)}h${round(w - 2 * r)}${a}${round(r)} ${round(r)}v${round(h - 2 * r)}${a}${round(-r)} ${round(r)}` +
      `h${round(2 * r - w)}${a}${round(-r)} ${round(-r)}v${round(2 * r - h)}${a}${round(r)} ${round(-r)}Z`;
  }
  setLineDash(dash) { this.dash = dash; }
  get alpha() { return this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ''; }
  fill() { this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}"${this.alpha}/>`); }
  stroke() {
    if (!this.path) return;
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(' ')}"` : '';
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${dash}${this.alpha}/>`);
  }
  fillRect(x, y, w, h) {
    this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${this.fillStyle}"${this.alpha}/>`);
  }
  fillText(text, x, y) {
    const font = this.font.replace(/"/g, "'");
    this.parts.push(`<text x="${round(x)}" y="${round(y)}" style="font:${font};white-space:pre" dominant-baseline="central" fill="${this.fillStyle}"${this.alpha}>${xml(text)}</text>`);
  }
}

/** A whole scene as the text of an SVG file. */
function sceneSvg(scene, look) {
  const context = new SvgContext();
  new Painter(context, scene, {...look, scale: 1, view: null}).paint();
  const {w, h} = scene.root;
  const margin = 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${round(w + 2 * margin)} ${round(h + 2 * margin)}" ` +
    `width="${round(w + 2 * margin)}" height="${round(h + 2 * margin)}">\n` +
    `<rect x="${-margin}" y="${-margin}" width="100%" height="100%" fill="${look.theme.background}"/>\n${context.parts.join('\n')}\n</svg>\n`;
}
