export function testServers(): { readonly project: string; readonly program: string }[];
