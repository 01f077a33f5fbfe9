import { createStore, useStore } from '../live/store.js';

const KEY = 'almoner-theme';

/** `light`, `dark`, or what the system says. */
function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? 'system';
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
    return 'system';
  }
}

const theme = createStore(stored());

export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', chosen);
}

function chooseTheme(chosen: string): void {
  theme.set(chosen);
  applyTheme();
  try {
    if (chosen === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // See above.
  }
}

export function ThemeChoice() {
  return (
    <>
      <label class="unseen" for="theme">
        Colours
      </label>
      <select
        id="theme"
        class="quiet"
        value={useStore(theme)}
        onChange={(event) => chooseTheme(event.currentTarget.value)}
      >
        <option value="system">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </>
  );
}
