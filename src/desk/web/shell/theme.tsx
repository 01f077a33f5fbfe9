import { createStore, useStore } from '../live/store.js';

type Theme = 'system' | 'light' | 'dark';
const KEY = 'almoner-theme';

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
    return 'system';
  }
}

const theme = createStore<Theme>(stored());

export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', chosen);
}

function chooseTheme(chosen: Theme): void {
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
  const chosen = useStore(theme);
  const choices: readonly Theme[] = ['system', 'light', 'dark'];
  return (
    <>
      <label class="unseen" for="theme">
        Colours
      </label>
      <select
        id="theme"
        class="quiet"
        value={chosen}
        onChange={(event) =>
          chooseTheme(choices.find((choice) => choice === event.currentTarget.value) ?? 'system')
        }
      >
        <option value="system">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </>
  );
}
