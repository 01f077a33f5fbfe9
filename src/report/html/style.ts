import { ORDER_STATES } from '../../core/states.js';
import { Html } from './markup.js';

const STATE_COLOURS = ORDER_STATES.map(
  (state) => `.f-${state}{fill:var(--${state})}.b-${state}{background:var(--${state})}`,
).join('\n');

/** Light or dark by the reader's own setting, readable on a phone, printable in black and white. */
export const STYLE = new Html(`
:root{color-scheme:light dark;
--page:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#566072;--line:#dfe3ea;--wash:#eef1f5;--accent:#1d5fbf;
--paid:#1d7049;--refused:#c23b34;--exhausted:#d2691e;--doubt:#d99a00;--unknown:#8a5cc7;--sending:#3d86d8;
--duplicate:#7b8aa3;--invalid:#8e3f6e;--planned:#c3cbd8;--cancelled:#5d6470;
--alert:#fff6dc;--alertline:#d99a00;--stop:#fdecea;--stopline:#c23b34;--good:#e7f5ee}
@media (prefers-color-scheme:dark){:root{
--page:#12161d;--card:#1a2029;--ink:#e7ebf2;--soft:#a3aebf;--line:#303947;--wash:#232b37;--accent:#83b4f5;
--paid:#3fae7a;--refused:#e2675f;--exhausted:#e58b4a;--doubt:#e8b53a;--unknown:#ac86e0;--sending:#62a5ee;
--duplicate:#8595ae;--invalid:#c376a4;--planned:#566274;--cancelled:#8b93a0;
--alert:#33290f;--alertline:#e8b53a;--stop:#3a1d1b;--stopline:#e2675f;--good:#15301f}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header.top,footer{max-width:1040px;margin:0 auto;padding:0 20px}
header.top{padding-top:36px}
footer{padding:8px 20px 40px;color:var(--soft);font-size:14px}
h1{font-size:30px;line-height:1.2;margin:6px 0 8px;letter-spacing:-.015em}
h2{font-size:19px;margin:0 0 4px;letter-spacing:-.005em}
h3{font-size:16px;margin:20px 0 6px}
p{margin:0 0 12px}
.soft{color:var(--soft)}
.lead{font-size:18px;max-width:46em;margin-bottom:0}
.eyebrow{color:var(--soft);font-size:14px;display:flex;flex-wrap:wrap;gap:6px 10px;align-items:center;margin:0}
.rehearsal{background:repeating-linear-gradient(135deg,#5b3a9e 0 18px,#513290 18px 36px);color:#fff;text-align:center;padding:10px 20px;font-size:15px}
.rehearsal strong{letter-spacing:.14em;margin-right:10px}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px 22px;margin:18px 0}
section.alert{background:var(--alert);border-color:var(--alertline)}
section.stop{background:var(--stop);border-color:var(--stopline)}
.pill{display:inline-block;border-radius:999px;padding:1px 11px;font-weight:600;font-size:13px;border:1px solid var(--line);color:var(--ink);background:var(--wash)}
.tiles{display:grid;grid-template-columns:repeat(6,1fr);gap:12px;margin:22px 0 18px;padding:0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:13px 16px}
.tile dt{color:var(--soft);font-size:14px}
.tile dd{margin:0}
.tile .big{font-size:20px;font-weight:650;letter-spacing:-.02em;line-height:1.25;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.tile .note{font-size:13px;color:var(--soft)}
.tile.ok .big{color:var(--paid)}.tile.bad .big{color:var(--refused)}
svg{display:block;width:100%}
.stack{height:30px;border-radius:7px;overflow:hidden;margin:12px 0 14px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px;color:var(--soft);margin:8px 0 0;padding:0;list-style:none}
.key{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:7px;vertical-align:-1px}
.key.dash{height:0;border-top:2px dashed var(--ink);border-radius:0;width:18px;vertical-align:4px}
.plot{display:grid;grid-template-columns:auto 1fr;gap:0 10px;margin-top:10px;font-size:13px;color:var(--soft);font-variant-numeric:tabular-nums}
.plot .y{display:flex;flex-direction:column;justify-content:space-between;text-align:right;height:150px;line-height:1;min-width:3ch}
.plot svg{height:150px;border-bottom:1px solid var(--soft);background:linear-gradient(var(--line),var(--line)) 0 50%/100% 1px no-repeat,linear-gradient(var(--line),var(--line)) 0 0/100% 1px no-repeat}
.plot .unit{grid-column:1/-1;margin-bottom:4px}
.plot .x{grid-column:2;display:flex;justify-content:space-between;gap:12px;margin-top:4px}
.limit{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:6 4;vector-effect:non-scaling-stroke}
.f-requests{fill:var(--sending)}.b-requests{background:var(--sending)}
.f-limited{fill:var(--doubt)}.b-limited{background:var(--doubt)}
.f-bucket{fill:var(--duplicate)}
${STATE_COLOURS}
.scroll{overflow-x:auto;margin:8px -22px 0;padding:0 22px}
.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
table{border-collapse:collapse;min-width:min(100%,640px);font-size:14.5px}
th{text-align:left;font-weight:600;color:var(--soft);font-size:13px;white-space:nowrap}
th,td{padding:7px 14px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}
td{white-space:nowrap}
section>:last-child{margin-bottom:0}
tbody tr:last-child>*{border-bottom:0}
tbody th{color:var(--ink);font-size:14.5px}
.alert th,.alert td{border-color:color-mix(in srgb,var(--alertline) 35%,transparent)}
.n{text-align:right;font-variant-numeric:tabular-nums}
.wide{width:100%;min-width:15em;white-space:normal;overflow-wrap:anywhere}
code,.id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
pre{background:var(--wash);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin:8px 0 12px;overflow-x:auto;font-size:14px}
ol,ul{padding-left:22px;margin:6px 0 12px}
li{margin:3px 0}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:5px 20px;margin:10px 0 0;font-size:15px}
.facts dt{color:var(--soft)}
.facts dd{margin:0;overflow-wrap:anywhere}
.checks{list-style:none;padding:0;margin:8px 0 0}
.checks li{padding:9px 14px;border-radius:8px;background:var(--good);margin:8px 0}
.checks b{color:var(--paid);margin-right:6px}
@media (max-width:960px){.tiles{grid-template-columns:repeat(3,1fr)}}
@media (max-width:620px){
body{font-size:15px}h1{font-size:24px}.lead{font-size:16px}
main,header.top{padding:0 12px}header.top{padding-top:24px}
section{padding:16px 15px;border-radius:10px}
.scroll{margin:8px -15px 0;padding:0 15px}
.tiles{grid-template-columns:1fr 1fr;gap:8px}.tile{padding:10px 12px}.tile .big{font-size:20px}
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:8px}
pre{white-space:pre-wrap;overflow-wrap:anywhere}.wide{min-width:11em}
.plot .y,.plot svg{height:120px}}
@media print{
:root{--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#bbb;--wash:#f4f4f4;--alert:#fff;--stop:#fff;--good:#fff}
body{font-size:11pt}main,header.top,footer{max-width:none;padding:0}
section,.tile,tr{break-inside:avoid}.scroll{overflow:visible;margin:0;padding:0}
section{border-radius:0;padding:10pt 0;border-width:0 0 1px}
pre{white-space:pre-wrap}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`);
