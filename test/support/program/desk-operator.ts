import type { Page } from 'playwright-core';

/** Actions on the desk's pages that several tests use. */
export class DeskOperator {
  constructor(private readonly page: Page) {}

  /** Opens a page through the menu; on a phone it opens the menu first. */
  async goTo(place: string): Promise<void> {
    const menu = this.page.getByRole('button', { name: 'Menu' });
    if (await menu.isVisible()) await menu.click();
    await this.page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: place }).click();
    await this.page.getByRole('heading', { level: 1, name: place }).waitFor();
  }

  async choose(file: string, rows: readonly string[]): Promise<void> {
    const csv = `member,tokens\n${rows.map((row) => `${row}\n`).join('')}`;
    await this.page
      .getByLabel('CSV file', { exact: true })
      .last()
      .setInputFiles({ name: file, mimeType: 'text/csv', buffer: Buffer.from(csv) });
  }

  /** Runs `act`, which makes the desk plan the file, and waits for the result on the page. */
  async planned(act: () => Promise<void>): Promise<void> {
    await Promise.all([this.page.waitForResponse((response) => response.url().endsWith('/plan')), act()]);
    await this.page.getByRole('button', { name: 'Plan again' }).waitFor();
  }

  planBy(button: string | RegExp): Promise<void> {
    return this.planned(() => this.page.getByRole('button', { name: button }).click());
  }

  async offer(file: string, realm: string, rows: readonly string[]): Promise<void> {
    await this.goTo('Import');
    await this.choose(file, rows);
    await this.page.getByLabel('Realm').selectOption(realm);
    await this.planBy(/^Plan (it|again)$/);
  }

  async start(total: number): Promise<void> {
    await this.page.getByLabel('Type the total to confirm').fill(String(total));
    await this.page.getByRole('button', { name: /^(Pay|Send) \d/ }).click();
  }

  async importFile(file: string, realm: string, rows: readonly string[]): Promise<void> {
    await this.offer(file, realm, rows);
    await this.start(rows.reduce((sum, row) => sum + Number(row.split(',')[1]), 0));
    await this.page.getByRole('heading', { level: 1, name: file }).waitFor();
  }

  async stateSays(state: string): Promise<void> {
    await this.page.locator('.lead-line .pill', { hasText: state }).waitFor();
  }
}
