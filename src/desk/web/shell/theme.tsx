import { createStore, useStore } from '../live/store.js';

const KEY = 'almoner-theme';

/** Returns `light`, `dark`, or `system`. */
function stored(): string {
  try {
    return localStorage.getItem(KEY) ?? 'system';
  } catch {
    // The browser may forbid storage. The choice then lasts as long as the page.
    return 'system';
  }
}

const theme = createStore(stored());

/** Applies the stored colour scheme before the first drawing. */
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
    // Storage may be forbidden here too.
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
