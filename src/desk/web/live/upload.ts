import type { UploadReply } from '../../api-types.js';
import { CallFailed, refusalFrom } from './call.js';
import { csrfToken } from './session.js';

/** Sends a file as it is. XMLHttpRequest, because fetch cannot tell how much of a body has left. */
export function upload(
  file: File,
  onProgress: (sentBytes: number) => void,
  signal: AbortSignal,
): Promise<UploadReply> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api/uploads?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader('content-type', 'text/csv');
    request.setRequestHeader('x-almoner-csrf', csrfToken());
    request.upload.addEventListener('progress', (event) => onProgress(event.loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(refusalFrom(request.status, request.responseText));
    });
    request.addEventListener('error', () =>
      reject(
        new CallFailed(
          0,
          'ALM_DESK_UNREACHABLE',
          'The upload broke off. Nothing was imported.',
          'Check the connection and choose the file again.',
        ),
      ),
    );
    signal.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.send(file);
  });
}
